import { describe, expect, it } from 'vitest';
import { createRecordedMetrics } from '../../src/nerdgraph/recorded-metrics.ts';

describe('recorded metrics', () => {
  it('are those that were seen, of each application', () => {
    const recorded = createRecordedMetrics();

    recorded.saw('1', 'web');
    recorded.saw('1', 'web');
    recorded.saw('1', 'other');
    recorded.saw('2', 'other');

    expect(recorded.has('1', 'web')).toBe(true);
    expect(recorded.has('1', 'other')).toBe(true);
    expect(recorded.has('2', 'web')).toBe(false);
    expect(recorded.has('2', 'other')).toBe(true);
    expect(recorded.has('3', 'web')).toBe(false);
  });

  it('are not known just because one was seen: there may be others', () => {
    const recorded = createRecordedMetrics();

    recorded.saw('1', 'web');
    expect(recorded.isKnown('1')).toBe(false);
    recorded.known(['1', '2']);

    expect(recorded.isKnown('1')).toBe(true);
    expect(recorded.isKnown('2')).toBe(true);
    expect(recorded.has('2', 'web')).toBe(false);
  });

  it('are forgotten with their application', () => {
    const recorded = createRecordedMetrics();
    for (const id of ['1', '2']) recorded.saw(id, 'web');
    recorded.known(['1', '2']);

    recorded.keepOnly(new Set(['2', '3']));

    expect([recorded.isKnown('1'), recorded.has('1', 'web')]).toEqual([false, false]);
    expect([recorded.isKnown('2'), recorded.has('2', 'web')]).toEqual([true, true]);
    expect(recorded.isKnown('3')).toBe(false);
  });
});
