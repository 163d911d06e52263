import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { registerProcessMetrics } from '../../src/telemetry/process-metrics.ts';
import { settle } from '../support/fake-clock.ts';
import { valueOf } from './self-metrics-fixture.ts';

describe('nodejs_eventloop_active_seconds_total', () => {
  it('grows by the time that the event loop is blocked', async () => {
    const registry = new Registry();
    registerProcessMetrics(registry);
    const activeSeconds = async (): Promise<number> =>
      valueOf(await registry.metrics(), 'nodejs_eventloop_active_seconds_total') ?? Number.NaN;
    const startMs = performance.now();
    const before = await activeSeconds();
    const blockedFromMs = performance.now();
    while (performance.now() - blockedFromMs < 50);
    await settle();
    const grown = (await activeSeconds()) - before;

    expect(grown).toBeGreaterThanOrEqual(0.05);
    expect(grown).toBeLessThanOrEqual((performance.now() - startMs) / 1000);
  });
});
