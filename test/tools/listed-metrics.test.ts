import { describe, expect, it } from 'vitest';
import { createListedMetrics } from '../../src/tools/listed-metrics.ts';

describe('listed metrics', () => {
  it('are each there once, with the values of all pages, sorted', () => {
    const listed = createListedMetrics();

    listed.add([
      { name: 'b', values: ['y', 'x'] },
      { name: 'B', values: [] },
    ]);
    listed.add([
      { name: 'b', values: ['z', 'x'] },
      { name: 'a', values: ['x'] },
    ]);

    expect(listed.size()).toBe(3);
    expect(listed.sorted()).toEqual([
      { name: 'B', values: [] },
      { name: 'a', values: ['x'] },
      { name: 'b', values: ['x', 'y', 'z'] },
    ]);
  });

  it('keep their values if they are named again without any', () => {
    const listed = createListedMetrics();

    listed.add([{ name: 'a', values: ['x'] }]);
    listed.add([
      { name: 'a', values: undefined },
      { name: 'b', values: undefined },
    ]);

    expect(listed.sorted()).toEqual([
      { name: 'a', values: ['x'] },
      { name: 'b', values: undefined },
    ]);
  });
});
