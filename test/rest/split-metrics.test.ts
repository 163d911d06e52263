import { describe, expect, it } from 'vitest';
import { seriesOf } from '../../src/model/polled-series.ts';
import { type LoneQuestion, SplitMetrics } from '../../src/rest/split-metrics.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly metrics: SplitMetrics;
  readonly found: LoneQuestion[];
}

function aBench(): Bench {
  const clock = createFakeClock();
  const found: LoneQuestion[] = [];
  return { clock, found, metrics: new SplitMetrics(clock, (one) => found.push(one)) };
}

function about(
  applicationId: string,
  metric: string = 'Apdex',
  scope: LoneQuestion['scope'] = 'applications',
): LoneQuestion {
  return { scope, applicationId, metric };
}

const series = seriesOf(['throughput', 'apdex', 'errors'], ['web', 'other']);

function askedTogether({ metrics }: Bench): readonly (readonly string[])[] {
  return metrics
    .callGroupsOf(series)
    .hosts.map((group) => [...new Set(group.series.map(({ metric }) => metric))]);
}

describe('a metric that came without values', () => {
  it('is asked for alone with three applications an hour, of ten thousand', () => {
    const { metrics } = aBench();
    const ids = Array.from({ length: 10_000 }, (_, index) => `${index}`);

    const asked = ids.filter((id) => metrics.shouldAsk(about(id)));

    expect(asked).toEqual(['0', '1', '2']);
  });

  it('is asked for alone once in a poll, whichever of the hosts comes first', () => {
    const { metrics } = aBench();

    const asked = [1, 2].map(() => metrics.shouldAsk(about('1', 'Apdex', 'hosts')));

    expect(asked).toEqual([true, false]);
  });

  it('is asked for alone for applications, for hosts, and for other metrics apart', () => {
    const { metrics } = aBench();
    for (const id of ['1', '2', '3']) metrics.shouldAsk(about(id));

    expect(metrics.shouldAsk(about('4', 'Apdex', 'hosts'))).toBe(true);
    expect(metrics.shouldAsk(about('4', 'Errors/all'))).toBe(true);
    expect(metrics.shouldAsk(about('4'))).toBe(false);
  });

  it('is asked for alone with every application in turn, though the same come first every hour', async () => {
    const { clock, metrics } = aBench();
    const ids = ['1', '2', '3', '4', '5', '6', '7'];
    const asked: string[][] = [];
    for (let hour = 0; hour < 3; hour += 1) {
      asked.push(ids.filter((id) => metrics.shouldAsk(about(id))));
      for (const id of asked[hour] ?? []) metrics.answered(about(id), false);
      await clock.advance(3_600_000);
    }

    expect(asked).toEqual([['1', '2', '3'], ['4', '5', '6'], ['7']]);
  });

  it('is asked for alone again after an hour, if it had no values then either', async () => {
    const { clock, metrics, found } = aBench();
    for (const id of ['1', '2', '3']) {
      metrics.shouldAsk(about(id));
      metrics.answered(about(id), false);
    }

    await clock.advance(3_599_999);
    const before = metrics.shouldAsk(about('1'));
    await clock.advance(1);

    expect([before, metrics.shouldAsk(about('4'))]).toEqual([false, true]);
    expect(found).toEqual([]);
  });

  it('is asked for alone again after ten minutes, if that failed', async () => {
    const { clock, metrics } = aBench();
    metrics.shouldAsk(about('1'));
    metrics.failed(about('1'));

    await clock.advance(599_999);
    const before = metrics.shouldAsk(about('1'));
    await clock.advance(1);

    expect([before, metrics.shouldAsk(about('1'))]).toEqual([false, true]);
  });
});

describe('a metric that has values only alone', () => {
  it('is asked for alone from then on, of applications and of hosts, and is reported', () => {
    const bench = aBench();
    const before = askedTogether(bench);

    bench.metrics.shouldAsk(about('1'));
    bench.metrics.answered(about('1'), true);

    const others = ['HttpDispatcher', 'OtherTransaction/all', 'Errors/allWeb', 'Errors/allOther'];
    expect(before).toHaveLength(1);
    expect(askedTogether(bench)).toEqual([others, ['Apdex']]);
    expect(bench.metrics.callGroupsOf(series).applications).toHaveLength(2);
    expect(bench.found).toEqual([about('1')]);
  });

  it('is asked for alone by any poll that began before, in spite of failures', () => {
    const { metrics } = aBench();
    metrics.answered(about('1'), true);
    metrics.failed(about('1'));

    const asked = ['1', '2', '3', '4', '5', '1'].map((id) => metrics.shouldAsk(about(id)));

    expect(asked).toEqual([true, true, true, true, true, true]);
  });

  it.each([
    { what: 'with another one', came: ['Errors/allWeb', 'Apdex'], calls: 1 },
    { what: 'alone, which it may do if it is the first', came: ['Apdex'], calls: 2 },
    { what: 'not at all', came: ['Errors/allWeb', 'HttpDispatcher'], calls: 2 },
  ])('takes $calls calls with others after it came $what', ({ came, calls }) => {
    const bench = aBench();
    bench.metrics.answered(about('1'), true);

    bench.metrics.cameTogether(came);

    expect(askedTogether(bench)).toHaveLength(calls);
  });

  it('is one of ten thousand at most, so that memory has an end', () => {
    const bench = aBench();
    bench.metrics.answered(about('1'), true);

    for (let index = 0; index < 10_000; index += 1) {
      bench.metrics.answered(about('1', `Custom/${index}`), true);
    }

    expect(askedTogether(bench)).toHaveLength(1);
  });
});
