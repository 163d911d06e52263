import { describe, expect, it } from 'vitest';
import { createRecordedMetrics } from '../../src/nerdgraph/recorded-metrics.ts';

const [web, other] = ['HttpDispatcher', 'OtherTransaction/all'];

describe('recorded metrics', () => {
  it('are those that were seen, of each application', () => {
    const recorded = createRecordedMetrics();

    recorded.saw('1', web);
    recorded.saw('1', web);
    recorded.saw('1', other);
    recorded.saw('2', other);

    expect(recorded.has('1', web)).toBe(true);
    expect(recorded.has('1', other)).toBe(true);
    expect(recorded.has('2', web)).toBe(false);
    expect(recorded.has('2', other)).toBe(true);
    expect(recorded.has('3', web)).toBe(false);
  });

  it('are not known just because one was seen: there may be others', () => {
    const recorded = createRecordedMetrics();

    recorded.saw('1', web);
    expect(recorded.isKnown('1', [web])).toBe(false);
    recorded.known(['1', '2'], [web]);

    expect(recorded.isKnown('1', [web])).toBe(true);
    expect(recorded.isKnown('2', [web])).toBe(true);
    expect(recorded.has('2', web)).toBe(false);
  });

  it('are known if each of them was asked for, in whatever company', () => {
    const recorded = createRecordedMetrics();

    recorded.known(['1'], [web]);
    expect(recorded.isKnown('1', [web, other])).toBe(false);
    recorded.known(['1'], [other, 'Errors/all']);

    expect(recorded.isKnown('1', [web, other])).toBe(true);
    expect(recorded.isKnown('1', [web, 'Errors/allWeb'])).toBe(false);
  });

  it('are forgotten with their application', () => {
    const recorded = createRecordedMetrics();
    for (const id of ['1', '2']) recorded.saw(id, web);
    recorded.known(['1', '2'], [web]);

    recorded.keepOnly(new Set(['2', '3']));

    expect([recorded.isKnown('1', [web]), recorded.has('1', web)]).toEqual([false, false]);
    expect([recorded.isKnown('2', [web]), recorded.has('2', web)]).toEqual([true, true]);
    expect(recorded.isKnown('3', [web])).toBe(false);
  });
});
