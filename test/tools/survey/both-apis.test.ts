import { describe, expect, it } from 'vitest';
import type { Unit } from '../../../src/model/vendor-value.ts';
import { type Verdict, verdictOf } from '../../../src/tools/survey/both-apis.ts';

type Row = readonly [
  what: string,
  unit: Unit,
  rest: readonly number[],
  nerdgraph: readonly number[],
  verdict: Verdict | undefined,
];

describe('a value of REST and one of NerdGraph', () => {
  it.each<Row>([
    ['the same', 'per_minute', [812], [812], 'equal'],
    ['rounded down', 'per_minute', [812], [812.4], 'equal'],
    ['a tie', 'per_minute', [812], [811.5], 'equal'],
    ['beyond a tie', 'per_minute', [812], [812.51], 'differs'],
    ['a power of ten', 'per_minute', [1000], [1004.9], 'equal'],
    ['beyond it', 'per_minute', [1000], [1005.1], 'differs'],
    ['a small value', 'per_minute', [0.0333], [1 / 30], 'equal'],
    ['one call more', 'per_minute', [0.0333], [2 / 30], 'differs'],
    ['a million', 'per_minute', [1_230_000], [1_234_999], 'equal'],
    ['both 0', 'per_minute', [0], [0], 'equal'],
    ['0 and more', 'per_minute', [0], [0.2], 'differs'],
    ['two ids', 'per_minute', [101, 202], [303.9], 'equal'],
    ['two other ids', 'per_minute', [101, 202], [304.1], 'differs'],
    ['idle in REST', 'per_minute', [0], [], 'idle'],
    ['idle in NerdGraph', 'per_minute', [], [0], 'idle'],
    ['absent in NerdGraph', 'per_minute', [1], [], 'only REST'],
    ['absent in REST', 'per_minute', [], [1], 'only NerdGraph'],
    ['absent in both', 'per_minute', [], [], undefined],
    ['seconds', 'seconds', [0.364], [0.3644], 'equal'],
    ['other seconds', 'seconds', [0.364], [0.3646], 'differs'],
    ['a score', 'ratio', [0.93], [0.934], 'equal'],
    ['another score', 'ratio', [0.93], [0.936], 'differs'],
    ['CPU of more than 10 cores', 'ratio', [12.6], [12.5758], 'equal'],
    ['other CPU', 'ratio', [12.6], [12.54], 'differs'],
    ['MiB', 'bytes', [101 * 1024 ** 2], [101.49 * 1024 ** 2], 'equal'],
    ['other MiB', 'bytes', [101 * 1024 ** 2], [101.6 * 1024 ** 2], 'differs'],
  ])('of %s (%s: %j and %j) are %s', (_, unit, rest, nerdgraph, verdict) => {
    expect(verdictOf({ unit, rest, nerdgraph, raw: false })).toBe(verdict);
  });

  it.each([
    { rest: 812.4, nerdgraph: 812.4, verdict: 'equal' },
    { rest: 0.1 + 0.2, nerdgraph: 0.3, verdict: 'equal' },
    { rest: 812, nerdgraph: 812.4, verdict: 'differs' },
  ])('without rounding, $rest and $nerdgraph, are $verdict', ({ rest, nerdgraph, verdict }) => {
    const both = { unit: 'per_minute', rest: [rest], nerdgraph: [nerdgraph], raw: true } as const;

    expect(verdictOf(both)).toBe(verdict);
  });
});
