import { describe, expect, it } from 'vitest';
import type { FaultCondition } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

type Others = 'without_values' | 'missing';

const application = { kind: 'web' as const, webRpm: 60, errorRatio: 0.1, hosts: [{ id: 11 }] };

/** The text of an answer of an account in which the trap snaps. */
async function answerTo(
  target: string,
  others: Others,
  when: FaultCondition = {},
): Promise<string> {
  const clock = createFakeClock();
  const fault = { kind: 'first_metric_only' as const, others };
  const { intercept } = createFaults([{ when, fault }], { clock });
  const simulator = createSimulator(
    {
      apiKeys: ['key'],
      fleet: { traffic: 'flat', applications: [{ id: 1, ...application }] },
      intercept,
    },
    { clock },
  );
  const { body } = await inMemoryTransport(simulator).send(
    { operation: 'application_metrics', target },
    { 'Api-Key': 'key', accept: 'application/json' },
    new AbortController().signal,
  );
  return body;
}

function queryOf(names: readonly string[], values: readonly string[]): string {
  const parameters = [
    ...names.map((name) => `names[]=${name}`),
    ...values.map((value) => `values[]=${value}`),
  ];
  return `${parameters.join('&')}&summarize=true&from=2026-09-01T09:50:00Z&to=2026-09-01T09:55:00Z`;
}

const ofApplication = '/v2/applications/1/metrics/data.json';
const ofHost = '/v2/applications/1/hosts/11/metrics/data.json';
const mixed = queryOf(
  ['Errors/all', 'HttpDispatcher', 'OtherTransaction/all'],
  ['errors_per_minute', 'requests_per_minute'],
);

function metricData(found: readonly string[], values: readonly object[]): unknown {
  return {
    metric_data: expect.objectContaining({
      metrics_found: found,
      metrics_not_found: ['OtherTransaction/all'],
      metrics: found.map((name, index) => ({
        name,
        timeslices: [expect.objectContaining({ values: values[index] })],
      })),
    }) as unknown,
  };
}

describe('the trap of metrics that do not share all values', () => {
  it.each([{ target: ofApplication }, { target: ofHost }])(
    'gives the values of the first metric alone, the others none: $target',
    async ({ target }) => {
      const answer: unknown = JSON.parse(await answerTo(`${target}?${mixed}`, 'without_values'));

      expect(answer).toEqual(
        metricData(['Errors/all', 'HttpDispatcher'], [{ errors_per_minute: 6 }, {}]),
      );
    },
  );

  it('gives the first metric alone, the others in neither list', async () => {
    const answer: unknown = JSON.parse(await answerTo(`${ofApplication}?${mixed}`, 'missing'));

    expect(answer).toEqual(metricData(['Errors/all'], [{ errors_per_minute: 6 }]));
  });

  it.each([
    {
      what: 'metrics that share all values',
      target: `${ofApplication}?${queryOf(['HttpDispatcher', 'Datastore/all'], ['call_count'])}`,
    },
    { what: 'a single metric', target: `${ofApplication}?${queryOf(['Errors/all'], ['score'])}` },
    {
      what: 'all values of whatever there is',
      target: `${ofApplication}?${queryOf(['HttpDispatcher', 'Apdex'], [])}`,
    },
    { what: 'a list', target: '/v2/applications.json' },
    { what: 'an error', target: '/v2/applications/2/metrics/data.json' },
  ])('does not concern $what', async ({ target }) => {
    const untouched = await answerTo(target, 'missing', { applicationId: '9' });

    expect(await answerTo(target, 'missing')).toBe(untouched);
  });

  it('gives everything, the full product, where it does not snap', async () => {
    const answer: unknown = JSON.parse(
      await answerTo(`${ofApplication}?${mixed}`, 'missing', { applicationId: '9' }),
    );

    expect(answer).toEqual(
      metricData(
        ['Errors/all', 'HttpDispatcher'],
        [{ errors_per_minute: 6 }, { requests_per_minute: 60 }],
      ),
    );
  });
});
