import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import { presetNames } from '../../src/model/presets.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  aBench,
  all,
  anApp,
  calls,
  factsOfAll,
  known,
  only,
  truth,
  valuesIn,
} from './completing-bench.ts';
import { type Facts, polled } from './metric-vendor.ts';

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

  it('is completed of all applications and hosts that are polled together, in the first poll', async () => {
    const { source, vendor } = aBench(async (): Promise<'others_missing'> => {
      await new Promise(setImmediate);
      return 'others_missing';
    });
    const hosts = Array.from({ length: 8 }, (_, index) => `${index + 11}`);

    const outcomes = await polled(
      source,
      ['1', '2', '3', '4', '5'].map((id) => anApp(id, hosts)),
    );

    for (const outcome of outcomes) {
      expect([undefined, ...hosts].map((host) => valuesIn(outcome, host))).toEqual(
        [undefined, ...hosts].map(() => all),
      );
    }
    expect(vendor.calls).toHaveLength(5 * 9 * 5);
  });

  it('is not waited for longer than the poll may take', async () => {
    const abort = new AbortController();
    const deadline = new ApiError('timeout', 'too late');
    const { source } = aBench(async ({ hostId, names }) => {
      // The first host waits for an answer, and the second one for the first.
      if (names.length > 1 || hostId === undefined) return 'others_missing';
      setImmediate(() => abort.abort(deadline));
      return new Promise((_resolve, reject) => {
        abort.signal.addEventListener('abort', () => reject(deadline));
      });
    });

    const { error, failed } = await only(
      polled(source, [anApp('1', ['11', '12'])], { signal: abort.signal }),
    );

    expect(error).toBe(deadline);
    expect([...failed].toSorted()).toEqual(['11', '12']);
  });

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
    expect(before).toMatchObject({ application_metrics: 2, host_metrics: 2 });
    expect(after).toMatchObject({ application_metrics: 5 + 1, host_metrics: 10 });
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
            planned.application_metrics + planned.host_metrics,
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
