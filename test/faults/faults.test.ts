import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/fault.ts';
import type { FaultCondition, FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { usualApplications } from './fault-bench.ts';

const list = '/v2/applications.json';
const shop = '/v2/applications/101/metrics/data.json';
const host = '/v2/applications/101/hosts/1011/metrics/data.json';
const worker = '/v2/applications/102/metrics/data.json';

/** Sends the requests ten seconds apart and gives the statuses. */
async function statuses(
  script: readonly FaultRule[],
  targets: readonly string[],
  options: { readonly key?: string; readonly endAfter?: number } = {},
): Promise<readonly number[]> {
  const clock = createFakeClock();
  const faults = createFaults(script, { clock });
  const simulator = createSimulator(
    {
      apiKeys: ['first', 'second'],
      intercept: faults.intercept,
      fleet: { applications: usualApplications },
    },
    { clock },
  );
  const wire = inMemoryTransport(simulator);
  const signal = new AbortController().signal;
  const seen: number[] = [];
  for (const target of targets) {
    if (seen.length === options.endAfter) faults.end();
    const request = {
      operation: 'list_applications',
      target: `${target}?names[]=HttpDispatcher&summarize=true`,
    } as const;
    const { status } = await wire.send(request, { 'Api-Key': options.key ?? 'first' }, signal);
    seen.push(status);
    await clock.advance(10_000);
  }
  const faulty = simulator.journal.entries(({ status }) => status !== 200);
  expect(faults.hits().map(({ request }) => request)).toEqual(faulty);
  return seen;
}

const unavailable: Fault = { kind: 'status', status: 503 };

describe('createFaults', () => {
  it.each<{ what: string; when: FaultCondition | undefined; expected: readonly number[] }>([
    { what: 'without a condition, all', when: undefined, expected: [503, 503, 503, 503] },
    {
      what: 'of an endpoint',
      when: { endpoints: ['host_metrics'] },
      expected: [200, 200, 503, 200],
    },
    { what: 'of an application', when: { applicationId: '101' }, expected: [200, 503, 503, 200] },
    { what: 'of a host', when: { hostId: '1011' }, expected: [200, 200, 503, 200] },
    { what: 'of a key', when: { keyIndex: 0 }, expected: [503, 503, 503, 503] },
    { what: 'of another key', when: { keyIndex: 1 }, expected: [200, 200, 200, 200] },
    { what: 'of a query', when: { queryIncludes: '[]=Http' }, expected: [503, 503, 503, 503] },
    {
      what: 'of another query',
      when: { queryIncludes: '[]=Other' },
      expected: [200, 200, 200, 200],
    },
    {
      what: 'over a connection of its own',
      when: { connection: 'new' },
      expected: [503, 503, 503, 503],
    },
    { what: 'from a call on', when: { calls: { first: 3 } }, expected: [200, 200, 503, 503] },
    { what: 'up to a call', when: { calls: { last: 1 } }, expected: [503, 200, 200, 200] },
    { what: 'every other one', when: { calls: { every: 2 } }, expected: [503, 200, 503, 200] },
    {
      what: 'the second of an application',
      when: { applicationId: '101', calls: { first: 2, last: 2 } },
      expected: [200, 200, 503, 200],
    },
    {
      what: 'of a time',
      when: { fromMs: 10_000, untilMs: 30_000 },
      expected: [200, 503, 503, 200],
    },
  ])('means the requests that meet the condition: $what', async ({ when, expected }) => {
    const seen = await statuses([{ when, fault: unavailable }], [list, shop, host, worker]);

    expect(seen).toEqual(expected);
  });

  it('lets the first rule win, while each counts every request that it means', async () => {
    const script: readonly FaultRule[] = [
      { when: { calls: { first: 2, last: 2 } }, fault: { kind: 'status', status: 500 } },
      { when: { calls: { first: 2, last: 3 } }, fault: unavailable },
    ];

    const seen = await statuses(script, [list, list, list, list]);

    expect(seen).toEqual([200, 500, 503, 200]);
  });

  it('has no more faults after its end', async () => {
    const seen = await statuses([{ fault: unavailable }], [list, list, list], { endAfter: 2 });

    expect(seen).toEqual([503, 503, 200]);
  });
});
