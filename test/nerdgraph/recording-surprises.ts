import type { UnexpectedAnswer } from '../../src/model/telemetry.ts';
import type { Surprises } from '../../src/nerdgraph/surprises.ts';

/** Keeps what was told. */
export interface RecordingSurprises extends Surprises {
  readonly seen: readonly {
    readonly kind: UnexpectedAnswer;
    readonly detail: Readonly<Record<string, unknown>>;
  }[];
  kinds(): readonly UnexpectedAnswer[];
}

export function createRecordingSurprises(): RecordingSurprises {
  const seen: { kind: UnexpectedAnswer; detail: Readonly<Record<string, unknown>> }[] = [];
  return {
    seen,
    kinds: () => seen.map(({ kind }) => kind),
    saw: (kind, detail) => {
      seen.push({ kind, detail });
    },
  };
}
