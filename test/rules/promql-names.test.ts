import { describe, expect, it } from 'vitest';
import { labelNamesIn, metricNamesIn } from './promql-names.ts';

describe('metricNamesIn', () => {
  it.each([
    { expression: 'up == 0', names: ['up'] },
    { expression: 'a{b="c{d}"} > on (e, f) group_left (g) 3 * h', names: ['a', 'h'] },
    { expression: 'sum by (a) (rate(b_total{c=~"d|e"}[5m])) / 2e3', names: ['b_total'] },
    { expression: 'x:y:sum offset 1w unless z', names: ['x:y:sum', 'z'] },
    { expression: 'time() - max without (a) (b) or vector(0)', names: ['b'] },
    { expression: 'topk($topn, a{b=~"$b"}) and $c', names: ['a'] },
    { expression: 'a # b\n+ a', names: ['a'] },
  ])('finds $names in $expression', ({ expression, names }) => {
    expect(metricNamesIn(expression)).toEqual(names);
  });
});

describe('labelNamesIn', () => {
  it.each([
    { expression: 'up', names: [] },
    { expression: 'a{b="c,d=e", f!~"g"} > on (h) group_left () i', names: ['b', 'f', 'h'] },
    { expression: 'sum by (b, a) (c)', names: ['a', 'b'] },
  ])('finds $names in $expression', ({ expression, names }) => {
    expect(labelNamesIn(expression)).toEqual(names);
  });
});
