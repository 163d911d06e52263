import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import type { MetricChoice } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import type { ValueName } from '../../src/model/vendor-value.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { aRestSource, type SourceUnderTest } from './a-rest-source.ts';
import { createMetricVendor, type Facts, type MetricVendor, polled } from './metric-vendor.ts';

const calls = { requests_per_minute: 60, average_response_time: 20, call_count: 300 };

/** What each metric of an application has; other metrics are not found. */
const known: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  HttpDispatcher: calls,
  'OtherTransaction/all': calls,
  'Errors/allWeb': { errors_per_minute: 2, error_count: 10 },
  'Errors/allOther': { errors_per_minute: 1, error_count: 5 },
  Apdex: { score: 0.9, count: 300 },
  'Memory/Physical': { used_bytes_by_host: 4096 },
};

const factsOfAll: Facts = (_call, metric) => known[metric];

/** The value that is published of it. */
const truth: Readonly<Partial<Record<ValueName, number>>> = {
  requests_per_minute: 60,
  average_response_time: 0.02,
  call_count: 300,
  errors_per_minute: 2,
  score: 0.9,
  used_bytes_by_host: 4096,
};

interface Bench extends SourceUnderTest {
  readonly vendor: MetricVendor;
}

function aBench(
  treat?: Parameters<typeof createMetricVendor>[1],
  facts: Facts = factsOfAll,
  clock = createFakeClock(),
): Bench {
  const vendor = createMetricVendor(facts, treat);
  return { vendor, ...aRestSource(vendor.send, { clock }) };
}

function anApp(
  id: string,
  hostIds: readonly string[] = [],
  metrics: readonly MetricChoice[] = ['throughput', 'errors', 'apdex'],
): SelectedApplication {
  return aSelected({ id, hostIds }, { poll: { metrics } });
}

/** Values by what they are of, such as `Apdex score`. */
function valuesIn({ reading }: PollOutcome, hostId?: string): Readonly<Record<string, unknown>> {
  const values = hostId === undefined ? reading?.application : reading?.hosts.get(hostId);
  const named = reading?.series.flatMap(({ metric, value }, index) =>
    values?.[index] === undefined ? [] : [[`${metric} ${value}`, values[index]]],
  );
  return Object.fromEntries(named ?? []);
}

const all = {
  'HttpDispatcher requests_per_minute': 60,
  'OtherTransaction/all requests_per_minute': 60,
  'Errors/allWeb errors_per_minute': 2,
  'Errors/allOther errors_per_minute': 1,
  'Apdex score': 0.9,
};

async function only(outcomes: Promise<readonly PollOutcome[]>): Promise<PollOutcome> {
  const [outcome, ...others] = await outcomes;
  if (outcome === undefined || others.length > 0) throw new Error('one outcome was expected');
  return outcome;
}

describe('an answer that has the values of the first metric alone', () => {
  it.each(['others_without_values', 'others_missing'] as const)(
    'is completed at once by a call for each of the others, which then have calls of their own: %s',
    async (trap) => {
      const { source, vendor, unexpected, logged } = aBench(() => trap);

      const first = await only(polled(source, [anApp('1')]));
      const callsOfFirst = vendor.calls.splice(0).map(({ names }) => names);
      const second = await only(polled(source, [anApp('2', ['21'])]));

      const others = ['OtherTransaction/all', 'Errors/allWeb', 'Errors/allOther', 'Apdex'];
      const alone = others.map((name) => [name]);
      expect(callsOfFirst).toEqual([['HttpDispatcher', ...others], ...alone]);
      expect(valuesIn(first)).toEqual(all);
      expect(first).toMatchObject({ extraCalls: 4, failed: new Set(), error: undefined });
      const callsOfSecond = vendor.calls.map(({ hostId, names }) => `${hostId} ${names.join()}`);
      expect(callsOfSecond).toEqual([
        ...['HttpDispatcher', ...others].map((name) => `undefined ${name}`),
        ...['HttpDispatcher', ...others].map((name) => `21 ${name}`),
      ]);
      expect(valuesIn(second)).toEqual(all);
      expect(valuesIn(second, '21')).toEqual(all);
      expect(second).toMatchObject({ extraCalls: 0, failed: new Set(), askedParts: 2 });
      expect(new Set(vendor.calls.map(({ range }) => range)).size).toBe(1);
      expect(unexpected).toEqual(others.map(() => 'values_missing'));
      expect(logged).toMatchObject(
        others.map((metric) => ({ account: 'main', kind: 'values_missing', metric, app_id: '1' })),
      );
      expect(logged[0]).toMatchObject({ remedy: expect.stringContaining('source: nerdgraph') });
    },
  );

  it('makes the plan count the calls that polls take from then on', async () => {
    const { source, vendor } = aBench(() => 'others_missing');
    const applications = [
      anApp('1', ['11', '12']),
      anApp('2', [], ['throughput', 'response_time']),
    ];
    const before = source.costs.polls(applications);

    await polled(source, applications);
    vendor.calls.splice(0);
    await polled(source, applications);

    const after = source.costs.polls(applications);
    const made = { own: 0, hosts: 0 };
    for (const { hostId } of vendor.calls) made[hostId === undefined ? 'own' : 'hosts'] += 1;
    expect(before).toMatchObject({ application_throughput: 2, host_throughput: 2 });
    expect(after).toMatchObject({ application_throughput: 5 + 1, host_throughput: 10 });
    expect(made).toEqual({ own: 6, hosts: 10 });
  });

  it('ends after some hours if it was a passing fault, and costs nobody a value before', async () => {
    const clock = createFakeClock();
    let isFaulty = true;
    const { source, vendor } = aBench(
      () => (isFaulty ? 'others_missing' : 'answer'),
      factsOfAll,
      clock,
    );
    const applications = [anApp('1', ['11']), anApp('2'), anApp('3')];
    const callsOfPoll = async (): Promise<string> => {
      const outcomes = await polled(source, applications);
      for (const outcome of outcomes) expect(valuesIn(outcome)).toEqual(all);
      const made = vendor.calls.splice(0);
      const forSeveral = made.filter(({ names }) => names.length > 1).length;
      return `${made.length} calls, ${forSeveral} for several metrics`;
    };

    await polled(source, applications.slice(0, 1));
    vendor.calls.splice(0);
    const apart = await callsOfPoll();
    await clock.advance(6 * 3_600_000 + 1);
    const whenTried = await callsOfPoll();
    const apartAgain = await callsOfPoll();
    isFaulty = false;
    const stillApart = await callsOfPoll();
    await clock.advance(6 * 3_600_000 + 1);
    await callsOfPoll();
    const together = await callsOfPoll();

    // One application and its host are asked for everything together, and then for each of the others.
    expect(whenTried).toBe('20 calls, 2 for several metrics');
    expect(new Set([apart, apartAgain, stillApart])).toEqual(
      new Set(['20 calls, 0 for several metrics']),
    );
    expect(together).toBe('4 calls, 4 for several metrics');
  });

  it.each([
    { metrics: ['throughput'] as const },
    { metrics: ['throughput', 'response_time', 'calls'] as const },
  ])('is believed when all metrics have the same values: $metrics', async ({ metrics }) => {
    const facts: Facts = (_call, metric) => (metric === 'HttpDispatcher' ? calls : {});
    const { source, vendor } = aBench(() => 'others_missing', facts);

    const outcome = await only(polled(source, [anApp('1', ['11'], metrics)]));

    expect(vendor.calls).toHaveLength(2);
    expect(outcome).toMatchObject({ extraCalls: 0, failed: new Set() });
  });
});

describe('a metric that has no values alone either', () => {
  const without: Facts = (_call, metric) => (metric === 'Apdex' ? {} : known[metric]);

  it('costs a call with one host and one application in an hour, and three applications at most', async () => {
    const clock = createFakeClock();
    const { source, vendor, unexpected } = aBench(undefined, without, clock);
    const applications = ['1', '2', '3', '4', '5'].map((id) => anApp(id, [`${id}1`, `${id}2`]));

    const outcomes = await polled(source, applications);
    const inFirstPoll = vendor.calls.splice(0).length;
    await polled(source, applications);
    const inSecondPoll = vendor.calls.splice(0).length;
    await clock.advance(3_600_000);
    await polled(source, applications);

    expect(inFirstPoll).toBe(15 + 3 + 3);
    expect(inSecondPoll).toBe(15);
    // The others have their turn.
    expect(vendor.calls).toHaveLength(15 + 4);
    expect(outcomes.map(({ failed }) => failed.size)).toEqual([0, 0, 0, 0, 0]);
    expect(outcomes.reduce((sum, { extraCalls }) => sum + extraCalls, 0)).toBe(6);
    expect(unexpected).toEqual([]);
  });

  it('is not asked for again if New Relic says that it has not found it', async () => {
    const { source, vendor } = aBench(undefined, (_call, metric) =>
      metric === 'Apdex' ? undefined : known[metric],
    );

    await polled(source, [anApp('1')]);

    expect(vendor.calls).toHaveLength(1);
  });

  it('costs six calls with hundreds of applications', async () => {
    const { source, vendor } = aBench(undefined, without);
    const applications = Array.from({ length: 300 }, (_, index) => anApp(`${index}`, ['7']));

    await polled(source, applications);

    expect(vendor.calls).toHaveLength(606);
  });
});

describe('a call for one metric alone that fails', () => {
  it.each([
    { reason: 'throttled', status: 429 },
    { reason: 'server', status: 503 },
  ] as const)('fails what it was for, and nothing else: $reason', async ({ reason, status }) => {
    const error = new ApiError(reason, 'no', { status });
    const { source } = aBench(({ hostId, names }) =>
      names.length === 1 && hostId === '11' ? error : 'others_missing',
    );

    const outcome = await only(polled(source, [anApp('1', ['11', '12'])]));

    expect(valuesIn(outcome)).toEqual(all);
    expect(outcome.error).toBe(error);
    expect([...outcome.failed]).toEqual(['11']);
  });

  it('is tried again ten minutes later', async () => {
    const clock = createFakeClock();
    let isDown = true;
    const { source, vendor } = aBench(
      ({ names }) =>
        isDown && names.length === 1 ? new ApiError('server', 'no') : 'others_missing',
      factsOfAll,
      clock,
    );

    const outcomes = [await only(polled(source, [anApp('1')]))];
    isDown = false;
    await clock.advance(600_000);
    outcomes.push(await only(polled(source, [anApp('1')])));

    expect(outcomes.map(({ failed }) => failed.size)).toEqual([1, 0]);
    expect(outcomes.map((outcome) => valuesIn(outcome))).toEqual([{}, all]);
    expect(vendor.calls.filter(({ names }) => names.length === 1)).toHaveLength(1 + 4);
  });

  it.each([400, 404, 422])(
    'is about the metric if New Relic has just answered for the others: %i',
    async (status) => {
      const { source } = aBench(({ names }) =>
        names.join() === 'Apdex' ? new ApiError('not_found', 'no', { status }) : 'others_missing',
      );

      const outcome = await only(polled(source, [anApp('1', ['11'])]));

      const { 'Apdex score': _, ...others } = all;
      expect(outcome).toMatchObject({ failed: new Set(), gone: false, error: undefined });
      expect([valuesIn(outcome), valuesIn(outcome, '11')]).toEqual([others, others]);
    },
  );

  it('does not cost the other values for long, however often it fails', async () => {
    const clock = createFakeClock();
    const { source } = aBench(
      ({ names }) => (names.join() === 'Apdex' ? new ApiError('server', 'no') : 'answer'),
      (_call, metric) => (metric === 'Apdex' ? {} : known[metric]),
      clock,
    );
    const failures: number[] = [];
    for (let minute = 0; minute < 20; minute += 1) {
      const { failed } = await only(polled(source, [anApp('1')]));
      failures.push(failed.size);
      await clock.advance(60_000);
    }

    expect(failures.filter((failed) => failed > 0)).toHaveLength(2);
    expect(failures.slice(0, 2)).toEqual([1, 0]);
  });

  it('is over at the deadline of the poll', async () => {
    const abort = new AbortController();
    const deadline = new ApiError('timeout', 'too late');
    const { source } = aBench(({ hostId, names }) => {
      if (names.length === 1 && hostId === '11') abort.abort(deadline);
      return 'others_missing';
    });

    const { error, failed } = await only(
      polled(source, [anApp('1', ['11'])], { signal: abort.signal }),
    );

    expect(error).toBe(deadline);
    expect(failed.has('11')).toBe(true);
  });
});

describe('whatever New Relic leaves out, and in whatever order it answers', () => {
  const treatment = fc.constantFrom(
    'answer' as const,
    'others_without_values' as const,
    'others_missing' as const,
    new ApiError('throttled', 'too many', { status: 429 }),
    new ApiError('timeout', 'too slow'),
  );
  const fleet = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 5 });

  it('no value is wrong, nothing is asked for too often, and in the end nothing is missing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fleet,
        fc.array(treatment, { maxLength: 40 }),
        fc.shuffledSubarray([...presetNames]),
        async (scheduler, hosts, treatments, metrics) => {
          const clock = createFakeClock();
          let isInTrouble = true;
          const bench = aBench(
            async (_call, number) => {
              if (!isInTrouble) return 'others_missing';
              return scheduler.schedule(Promise.resolve(treatments[number - 1] ?? 'answer'));
            },
            factsOfAll,
            clock,
          );
          const applications = hosts.map((count, index) =>
            anApp(
              `${index + 1}`,
              Array.from({ length: count }, (_, host) => `${index + 1}${host}`),
              metrics,
            ),
          );

          const troubled = await scheduler.waitFor(polled(bench.source, applications));
          isInTrouble = false;
          for (let hour = 0; hour < 2; hour += 1) {
            await clock.advance(3_600_000);
            await polled(bench.source, applications);
          }
          bench.vendor.calls.splice(0);
          const healthy = await polled(bench.source, applications);

          for (const outcome of [...troubled, ...healthy]) expectTruth(outcome);
          const planned = bench.source.costs.polls(applications);
          expect(bench.vendor.calls).toHaveLength(
            planned.application_throughput + planned.host_throughput,
          );
          for (const outcome of healthy) {
            expect(outcome).toMatchObject({ extraCalls: 0, failed: new Set() });
            const values = Object.keys(valuesIn(outcome));
            const series = outcome.reading?.series ?? [];
            expect(values).toHaveLength(series.filter(({ metric }) => metric in known).length);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** A part has all its values or it has failed; those that came are right. */
function expectTruth(outcome: PollOutcome): void {
  const { reading } = outcome;
  for (const values of [reading?.application ?? [], ...(reading?.hosts.values() ?? [])]) {
    for (const [index, { metric, value }] of (reading?.series ?? []).entries()) {
      if (values[index] === undefined) continue;
      const expected = metric === 'Errors/allOther' ? 1 : truth[value];
      expect(values[index]).toBe(expected);
    }
  }
}
