import { describe, expect, it } from 'vitest';
import { readDashboards } from './dashboard-files.ts';

/** Labels of which even a large installation has a few dozen values. */
const fewValues = /^(?:account|reason|kind|code|operation)$/;
const graphs = readDashboards()
  .filter(({ name }) => name === 'exporter')
  .flatMap(({ panels }) => panels)
  .filter(({ type }) => type === 'timeseries')
  .map(({ title, targets }) => ({ title, targets: targets ?? [] }));

describe('a graph of the exporter, with 50 exporters of 20 accounts and 10,000 applications', () => {
  it.each(graphs)('$title has a few dozen lines at most', ({ targets }) => {
    const many = targets.filter(({ expr, legendFormat = '' }) => {
      const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const isBounded = labels.length < 2 && labels.every((label) => fewValues.test(label));
      return !isBounded && !expr.includes('topk($topn, ');
    });

    expect(targets.length).toBeLessThan(4);
    expect(many).toEqual([]);
  });

  it.each(graphs)('$title shows the same lines from beginning to end', ({ targets }) => {
    const ranked = targets.filter(({ expr }) => expr.includes('topk('));

    expect(ranked.filter(({ expr }) => !/and on \([^)]*\) topk\(.*@ end\(\)/.test(expr))).toEqual(
      [],
    );
  });
});
