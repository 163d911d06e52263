import type { UnexpectedAnswer } from '../../../src/model/telemetry.ts';
import type { UnexpectedAnswers } from '../../../src/newrelic/answer.ts';

/** Keeps what was told. */
export interface RecordingUnexpectedAnswers extends UnexpectedAnswers {
  readonly seen: readonly {
    readonly kind: UnexpectedAnswer;
    readonly detail: Readonly<Record<string, unknown>>;
  }[];
  kinds(): readonly UnexpectedAnswer[];
  readonly notices: readonly string[];
}

export function createRecordingUnexpectedAnswers(): RecordingUnexpectedAnswers {
  const seen: { kind: UnexpectedAnswer; detail: Readonly<Record<string, unknown>> }[] = [];
  const notices: string[] = [];
  return {
    seen,
    notices,
    kinds: () => seen.map(({ kind }) => kind),
    saw: (kind, detail) => {
      seen.push({ kind, detail });
    },
    noticed: (text) => {
      notices.push(text);
    },
  };
}
