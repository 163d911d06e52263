import type { UnexpectedAnswer } from '../../../src/model/telemetry.ts';
import type { UnexpectedAnswers } from '../../../src/newrelic/nerdgraph/failures.ts';

/** Keeps what was told. */
export interface RecordingUnexpectedAnswers extends UnexpectedAnswers {
  readonly seen: readonly {
    readonly kind: UnexpectedAnswer;
    readonly detail: Readonly<Record<string, unknown>>;
  }[];
  kinds(): readonly UnexpectedAnswer[];
}

export function createRecordingUnexpectedAnswers(): RecordingUnexpectedAnswers {
  const seen: { kind: UnexpectedAnswer; detail: Readonly<Record<string, unknown>> }[] = [];
  return {
    seen,
    kinds: () => seen.map(({ kind }) => kind),
    saw: (kind, detail) => {
      seen.push({ kind, detail });
    },
  };
}
