import { describe, expect, it } from 'vitest';
import type { Unit } from '../../../src/model/vendor-value.ts';
import { type BothValues, changeOf, verdictOf } from '../../../src/tools/compare/compare-values.ts';

describe('the verdict', () => {
  it.each<Omit<BothValues, 'unit'> & { unit?: Unit; what: string; verdict: string | undefined }>([
    { what: 'the same', rest: [812], nerdgraph: [812], raw: false, verdict: 'equal' },
    { what: 'rounded down', rest: [812], nerdgraph: [812.4], raw: false, verdict: 'equal' },
    { what: 'a tie', rest: [812], nerdgraph: [811.5], raw: false, verdict: 'equal' },
    { what: 'beyond a tie', rest: [812], nerdgraph: [812.51], raw: false, verdict: 'differs' },
    { what: 'a power of ten', rest: [1000], nerdgraph: [1004.9], raw: false, verdict: 'equal' },
    { what: 'beyond it', rest: [1000], nerdgraph: [1005.1], raw: false, verdict: 'differs' },
    { what: 'a small value', rest: [0.0333], nerdgraph: [1 / 30], raw: false, verdict: 'equal' },
    { what: 'one call more', rest: [0.0333], nerdgraph: [2 / 30], raw: false, verdict: 'differs' },
    { what: 'a million', rest: [1_230_000], nerdgraph: [1_234_999], raw: false, verdict: 'equal' },
    { what: 'unrounded', rest: [812.4], nerdgraph: [812.4], raw: true, verdict: 'equal' },
    { what: 'a float', rest: [0.1 + 0.2], nerdgraph: [0.3], raw: true, verdict: 'equal' },
    { what: 'raw and rounded', rest: [812], nerdgraph: [812.4], raw: true, verdict: 'differs' },
    { what: 'both 0', rest: [0], nerdgraph: [0], raw: false, verdict: 'equal' },
    { what: '0 and more', rest: [0], nerdgraph: [0.2], raw: false, verdict: 'differs' },
    { what: 'two ids', rest: [101, 202], nerdgraph: [303.9], raw: false, verdict: 'equal' },
    { what: 'two other ids', rest: [101, 202], nerdgraph: [304.1], raw: false, verdict: 'differs' },
    { what: 'idle in REST', rest: [0], nerdgraph: [], raw: false, verdict: 'idle' },
    { what: 'idle in NerdGraph', rest: [], nerdgraph: [0], raw: false, verdict: 'idle' },
    { what: 'absent in NerdGraph', rest: [1], nerdgraph: [], raw: false, verdict: 'only REST' },
    { what: 'absent in REST', rest: [], nerdgraph: [1], raw: false, verdict: 'only NerdGraph' },
    {
      what: 'seconds',
      unit: 'seconds',
      rest: [0.364],
      nerdgraph: [0.3644],
      raw: false,
      verdict: 'equal',
    },
    {
      what: 'other seconds',
      unit: 'seconds',
      rest: [0.364],
      nerdgraph: [0.3646],
      raw: false,
      verdict: 'differs',
    },
    {
      what: 'a score',
      unit: 'ratio',
      rest: [0.93],
      nerdgraph: [0.934],
      raw: false,
      verdict: 'equal',
    },
    {
      what: 'another score',
      unit: 'ratio',
      rest: [0.93],
      nerdgraph: [0.936],
      raw: false,
      verdict: 'differs',
    },
    {
      what: 'CPU of more than 10 cores',
      unit: 'ratio',
      rest: [12.6],
      nerdgraph: [12.5758],
      raw: false,
      verdict: 'equal',
    },
    {
      what: 'other CPU',
      unit: 'ratio',
      rest: [12.6],
      nerdgraph: [12.54],
      raw: false,
      verdict: 'differs',
    },
    {
      what: 'MiB',
      unit: 'bytes',
      rest: [101 * 1024 ** 2],
      nerdgraph: [101.49 * 1024 ** 2],
      raw: false,
      verdict: 'equal',
    },
    {
      what: 'other MiB',
      unit: 'bytes',
      rest: [101 * 1024 ** 2],
      nerdgraph: [101.6 * 1024 ** 2],
      raw: false,
      verdict: 'differs',
    },
    { what: 'absent in both', rest: [], nerdgraph: [], raw: false, verdict: undefined },
  ])('of $what ($rest and $nerdgraph) is $verdict', ({ verdict, ...both }) => {
    expect(verdictOf({ unit: 'per_minute', ...both })).toBe(verdict);
  });
});

describe('the change', () => {
  it.each([
    { rest: 100, nerdgraph: 112, change: 0.12 },
    { rest: 100, nerdgraph: 50, change: 0.5 },
    { rest: 0, nerdgraph: 7, change: 1 },
    { rest: undefined, nerdgraph: 7, change: 1 },
    { rest: 7, nerdgraph: undefined, change: 1 },
  ])('from $rest to $nerdgraph is $change', ({ rest, nerdgraph, change }) => {
    expect(changeOf(rest, nerdgraph)).toBeCloseTo(change);
  });
});
