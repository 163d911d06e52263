import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { presetNames } from '../../../src/model/presets.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { CallsByOperation, PollCalls, Polled, Source } from '../../../src/model/source.ts';
import { hourMs } from '../../../src/model/time.ts';
import { callsAtOnce } from '../../support/calls-at-once.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { aQuestion, type Facts, polled } from './metric-vendor.ts';
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
} from './whole-answers-bench.ts';

const kinds = ['HttpDispatcher,OtherTransaction/all', 'Errors/allWeb,Errors/allOther', 'Apdex'];
const allMetrics = kinds.join().split(',');

describe('an answer that has the values of the first metric alone', () => {
  it.each(['others_without_values', 'others_missing'] as const)(
    'makes each kind of metric a call of its own from then on, and is completed at once: %s',
    async (trap) => {
      const { source, vendor, unexpected, logged } = aBench(() => trap);

      const first = await only(polled(source, [anApp('1')]));
      const callsOfFirst = vendor.calls.splice(0).map(({ names }) => names.join());
      const second = await only(polled(source, [anApp('2', ['21'])]));

      expect(callsOfFirst).toEqual([allMetrics.join(), ...kinds]);
      expect(valuesIn(first)).toEqual(all);
      expect(first).toMatchObject({ extraCalls: 0, failed: new Set(), error: undefined });
      const callsOfSecond = vendor.calls.map(({ hostId, names }) => `${hostId} ${names.join()}`);
      expect(callsOfSecond).toEqual([
        ...kinds.map((names) => `undefined ${names}`),
        ...kinds.map((names) => `21 ${names}`),
      ]);
      expect(valuesIn(second)).toEqual(all);
      expect(valuesIn(second, '21')).toEqual(all);
      expect(second).toMatchObject({ extraCalls: 0, failed: new Set(), partCount: 2 });
      expect(new Set(vendor.calls.map(({ range }) => range)).size).toBe(1);
      expect(unexpected).toEqual(['values_missing']);
      expect(logged).toMatchObject([
        {
          account: 'main',
          kind: 'values_missing',
          remedy: expect.stringContaining('source: nerdgraph'),
        },
      ]);
    },
  );

  it('is found out by one part, whatever is polled at the same time', async () => {
    const { source, vendor } = aBench(async (): Promise<'others_missing'> => {
      await new Promise(setImmediate);
      return 'others_missing';
    });
    const hosts = Array.from({ length: 8 }, (_, index) => `${index + 11}`);
    const applications = ['1', '2', '3', '4', '5'].map((id) => anApp(id, hosts));

    await polled(source, applications);
    const inFirstPoll = vendor.calls.splice(0).length;
    const outcomes = await polled(source, applications);

    expect(inFirstPoll).toBe(5 * 9 + 3);
    expect(vendor.calls).toHaveLength(5 * 9 * 3);
    for (const outcome of outcomes) {
      expect([undefined, ...hosts].map((host) => valuesIn(outcome, host))).toEqual(
        [undefined, ...hosts].map(() => all),
      );
    }
  });

  it('changes what polls cost, in calls and in words, and counts that', async () => {
    const { source, vendor } = aBench(() => 'others_missing');
    const applications = [
      anApp('1', ['11', '12']),
      anApp('2', [], ['throughput', 'response_time']),
    ];
    const entries = applications.map(({ entry }) => entry);
    const before = costOf(source, applications);
    const wordsBefore = source.metricCalls?.(entries);

    await polled(source, applications);
    const changes = source.costChanges();
    vendor.calls.splice(0);
    await polled(source, applications);

    const after = costOf(source, applications);
    const made = { own: 0, hosts: 0 };
    for (const { hostId } of vendor.calls) made[hostId === undefined ? 'own' : 'hosts'] += 1;
    expect(before).toMatchObject({ application_metrics: 2, host_metrics: 2 });
    expect(after).toMatchObject({ application_metrics: 3 + 1, host_metrics: 6 });
    expect(made).toEqual({ own: 4, hosts: 6 });
    expect([changes, source.costChanges()]).toEqual([1, 1]);
    expect([wordsBefore, source.metricCalls?.(entries)]).toEqual([
      '3 metrics take 1 call',
      '3 metrics take 3 calls: New Relic answers for one metric at a time',
    ]);
  });

  it('is tried again by one call every six hours, and forgotten if it was a passing fault', async () => {
    const clock = createFakeClock();
    let isFaulty = true;
    const { source, vendor, logged } = aBench(
      () => (isFaulty ? 'others_missing' : 'answer'),
      factsOfAll,
      clock,
    );
    const applications = [anApp('1', ['11']), anApp('2'), anApp('3')];
    const callsOfPoll = async (): Promise<string> => {
      const outcomes = await polled(source, applications);
      for (const outcome of outcomes) expect(valuesIn(outcome)).toEqual(all);
      const made = vendor.calls.splice(0);
      const forAll = made.filter(({ names }) => names.length === allMetrics.length).length;
      return `${made.length} calls, ${forAll} for all metrics`;
    };

    await polled(source, applications.slice(0, 1));
    vendor.calls.splice(0);
    const apart = await callsOfPoll();
    await clock.advance(6 * hourMs);
    const whenTried = await callsOfPoll();
    isFaulty = false;
    const stillApart = await callsOfPoll();
    await clock.advance(6 * hourMs);
    const triedAgain = await callsOfPoll();
    const together = await callsOfPoll();

    expect([apart, whenTried, stillApart, triedAgain, together]).toEqual([
      '12 calls, 0 for all metrics',
      '13 calls, 1 for all metrics',
      '12 calls, 0 for all metrics',
      '13 calls, 1 for all metrics',
      '4 calls, 4 for all metrics',
    ]);
    expect(logged).toHaveLength(1);
  });
});

describe('metrics for which one URL is too short', () => {
  it('do not pass for whole because two calls have values of a kind each', async () => {
    const long = Array.from({ length: 14 }, (_, at) => ({
      metric: `Custom/${at}/${'x'.repeat(230)}`,
      value: 'average_value' as const,
      as: `custom_${at}`,
      scale: 1,
      help: undefined,
      labels: {},
      scope: 'both' as const,
    }));
    const facts: Facts = (_call, metric) =>
      /^Custom\/(?:3|13)\//u.test(metric) ? { average_value: 3 } : known[metric];
    const { source, vendor } = aBench(() => 'others_missing', facts);
    const application = anApp('1', [], ['apdex', ...long]);

    const first = await only(polled(source, [application]));

    expect(vendor.calls.slice(0, 2).map(({ values }) => values.length)).toEqual([3, 1]);
    expect(Object.values(valuesIn(first))).toEqual([0.9, 3, 3]);
    expect(source.metricCalls?.([application.entry])).toContain('at a time');
  });
});

describe('metrics that have no values apart either', () => {
  const idle: Facts = (_call, metric) => (metric === 'HttpDispatcher' ? calls : {});

  it('decide nothing, and cost one part of a poll three trials, and one every six hours', async () => {
    const clock = createFakeClock();
    const { source, vendor, unexpected } = aBench(undefined, idle, clock);
    const applications = Array.from({ length: 30 }, (_, index) => anApp(`${index}`, ['7']));

    for (let minute = 0; minute < 120; minute += 1) {
      await polled(source, applications);
      await clock.advance(60_000);
    }

    const trials = (vendor.calls.length - 120 * 60) / kinds.length;
    expect(trials).toBe(3);
    expect(unexpected).toEqual([]);
    expect(costOf(source, applications)).toMatchObject({ application_metrics: 30 });
  });
});

describe('a call of the part that is asked for in both ways', () => {
  it.each([
    { what: 'fails', error: new ApiError('server', 'no', { status: 503 }) },
    { what: 'is refused', error: new ApiError('throttled', 'no', { status: 429 }) },
    { what: 'is not known', error: new ApiError('not_found', 'no', { status: 404 }) },
  ])('fails nothing if it $what, and is tried again ten minutes later', async ({ error }) => {
    const clock = createFakeClock();
    let isDown = true;
    const { source, vendor } = aBench(
      ({ names }) => (isDown && names.join() === 'Apdex' ? error : 'others_missing'),
      factsOfAll,
      clock,
    );

    const first = await only(polled(source, [anApp('1', ['11'])]));
    isDown = false;
    const second = await only(polled(source, [anApp('1', ['11'])]));
    await clock.advance(600_000);
    vendor.calls.splice(0);
    await polled(source, [anApp('1', ['11'])]);
    const callsOfThird = vendor.calls.splice(0).length;
    const fourth = await only(polled(source, [anApp('1', ['11'])]));

    expect([first, second].map(({ failed, gone }) => [failed.size, gone])).toEqual([
      [0, false],
      [0, false],
    ]);
    expect(callsOfThird).toBe(2 + 3);
    expect([valuesIn(fourth), valuesIn(fourth, '11')]).toEqual([all, all]);
  });

  it('fails nothing at the deadline of the poll', async () => {
    const { source } = aBench(() => 'others_missing');
    const controller = new AbortController();
    const question = aQuestion(anApp('1'));
    let isTrial = false;
    const atOnce = callsAtOnce({ signal: controller.signal, wallMs: Date.UTC(2026, 8, 1, 10) });
    const stages: PollCalls = {
      run: async (...stage) => {
        if (isTrial) controller.abort(new ApiError('timeout', 'too late'));
        isTrial = true;
        return atOnce.run(...stage);
      },
    };

    const found: Polled[] = [];
    for await (const one of source.poll(() => [question], stages, controller.signal))
      found.push(one);

    expect(controller.signal.aborted).toBe(true);
    expect(found).toMatchObject([{ question, outcome: { error: undefined, failed: new Set() } }]);
    expect(source.costChanges()).toBe(0);
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
          await clock.advance(6 * hourMs);
          for (let trial = 0; trial < 4; trial += 1) await polled(bench.source, applications);
          bench.vendor.calls.splice(0);
          const healthy = await polled(bench.source, applications);

          for (const outcome of [...troubled, ...healthy]) expectTruth(outcome);
          const planned = costOf(bench.source, applications);
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

function costOf(source: Source, applications: readonly SelectedApplication[]): CallsByOperation {
  return source.cost(applications.map((selected) => ({ kind: 'application', selected })));
}

/** Those values that came are right. */
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
