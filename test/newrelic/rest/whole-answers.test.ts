import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { presetNames } from '../../../src/model/presets.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { CallsByOperation, PollCalls, Polled, Source } from '../../../src/model/source.ts';
import { hourMs, minuteMs } from '../../../src/model/time.ts';
import { aMetric, aQuestion } from '../../support/builders.ts';
import { callsAtOnce } from '../../support/calls-at-once.ts';
import { polled, polledOne } from './a-rest-source.ts';
import { aBench, all, allFacts, anApp, type MetricCall, valuesIn } from './whole-answers-vendor.ts';

const kinds = ['HttpDispatcher,OtherTransaction/all', 'Errors/allWeb,Errors/allOther', 'Apdex'];

function textsOf(calls: readonly MetricCall[]): readonly string[] {
  return calls.map(({ hostId = '', names }) => `${hostId} ${names.join()}`.trim());
}

function costOf(source: Source, applications: readonly SelectedApplication[]): CallsByOperation {
  return source.cost(applications.map((selected) => ({ kind: 'application', selected })));
}

describe('an answer that has the values of the first metric alone', () => {
  it.each(['others_without_values', 'others_missing'] as const)(
    'makes each kind of metric a call of its own from then on, and is completed at once: %s',
    async (trap) => {
      const { source, calls, unexpected, logged } = aBench(() => trap);
      const [one, other] = [anApp('1'), anApp('2', ['21'])];
      const costs = [costOf(source, [other])];
      const words = [source.metricCalls?.([one.entry])];

      const outcomes = [await polledOne(source, one)];
      const ofFirst = textsOf(calls.splice(0));
      outcomes.push(await polledOne(source, other));

      expect(ofFirst).toEqual([kinds.join(), ...kinds]);
      expect(textsOf(calls)).toEqual([...kinds, ...kinds.map((names) => `21 ${names}`)]);
      expect(outcomes.map((outcome) => valuesIn(outcome))).toEqual([all, all]);
      expect(outcomes[1] && valuesIn(outcomes[1], '21')).toEqual(all);
      expect(outcomes).toMatchObject([
        { extraCalls: 0, failed: new Set(), error: undefined, partCount: 1 },
        { extraCalls: 0, failed: new Set(), error: undefined, partCount: 2 },
      ]);
      expect([...costs, costOf(source, [other])]).toMatchObject([
        { application_metrics: 1, host_metrics: 1 },
        { application_metrics: 3, host_metrics: 3 },
      ]);
      expect([...words, source.metricCalls?.([one.entry])]).toEqual([
        '3 metrics take 1 call',
        '3 metrics take 3 calls: New Relic answers for one metric at a time',
      ]);
      expect(source.costChanges()).toBe(1);
      expect(unexpected).toEqual(['values_missing']);
      const remedy: unknown = expect.stringContaining('source: nerdgraph');
      expect(logged).toMatchObject([{ account: 'main', kind: 'values_missing', remedy }]);
    },
  );

  it('is found out by one part, whatever is polled at the same time', async () => {
    const { source, calls } = aBench(async () => {
      await new Promise(setImmediate);
      return 'others_missing' as const;
    });
    const hosts = Array.from({ length: 8 }, (_, index) => `${index + 11}`);

    await polled(
      source,
      ['1', '2', '3', '4', '5'].map((id) => anApp(id, hosts)),
    );

    expect(calls).toHaveLength(5 * 9 + 3);
  });

  it('is tried again by one call every six hours, and forgotten if it was a passing fault', async () => {
    let isFaulty = true;
    const bench = aBench(() => (isFaulty ? 'others_missing' : 'answer'));
    const { source, calls, logged, clock } = bench;
    const applications = [anApp('1', ['11']), anApp('2'), anApp('3')];
    const callsOfPoll = async (): Promise<string> => {
      for (const outcome of await polled(source, applications)) {
        expect(valuesIn(outcome)).toEqual(all);
      }
      const made = calls.splice(0);
      return `${made.length}, ${made.filter(({ names }) => names.length === 5).length} for all`;
    };
    await polledOne(source, anApp('1'));
    calls.splice(0);

    const seen = [await callsOfPoll()];
    await clock.advance(6 * hourMs);
    seen.push(await callsOfPoll());
    isFaulty = false;
    seen.push(await callsOfPoll());
    await clock.advance(6 * hourMs);
    seen.push(await callsOfPoll(), await callsOfPoll());

    expect(seen).toEqual([
      '12, 0 for all',
      '13, 1 for all',
      '12, 0 for all',
      '13, 1 for all',
      '4, 4 for all',
    ]);
    expect(logged).toHaveLength(1);
  });

  it('is not whole because two calls have values of a kind each, where one URL is too short', async () => {
    const long = Array.from({ length: 14 }, (_, at) =>
      aMetric(`Custom/${at}/${'x'.repeat(230)}`, { as: `custom_${at}` }),
    );
    const some = long.filter((_, at) => at === 3 || at === 13);
    const facts = Object.fromEntries(some.map(({ metric }) => [metric, { average_value: 3 }]));
    const { source, calls } = aBench(() => 'others_missing', { ...allFacts, ...facts });
    const application = anApp('1', [], ['apdex', ...long]);

    const outcome = await polledOne(source, application);

    expect(calls.slice(0, 2).map(({ values }) => values.length)).toEqual([3, 1]);
    expect(Object.values(valuesIn(outcome))).toEqual([0.9, 3, 3]);
    expect(source.metricCalls?.([application.entry])).toContain('at a time');
  });
});

describe('metrics that have no values apart either', () => {
  it('decide nothing, and cost one part of a poll three trials, and one every six hours', async () => {
    const idle = Object.fromEntries(Object.keys(allFacts).map((metric) => [metric, {}]));
    const bench = aBench(undefined, { ...idle, HttpDispatcher: { requests_per_minute: 60 } });
    const { source, calls, unexpected, clock } = bench;
    const applications = Array.from({ length: 30 }, (_, index) => anApp(`${index}`, ['7']));

    for (let minute = 0; minute < 120; minute += 1) {
      await polled(source, applications);
      await clock.advance(minuteMs);
    }

    expect((calls.length - 120 * 60) / kinds.length).toBe(3);
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
    let isDown = true;
    const { source, calls, clock } = aBench(({ names }) =>
      isDown && names.join() === 'Apdex' ? error : 'others_missing',
    );
    const application = anApp('1', ['11']);

    const outcomes = [await polledOne(source, application)];
    isDown = false;
    outcomes.push(await polledOne(source, application));
    await clock.advance(10 * minuteMs);
    calls.splice(0);
    await polledOne(source, application);
    const ofThird = calls.length;
    const last = await polledOne(source, application);

    const nothing = { failed: new Set(), gone: false };
    expect(outcomes).toMatchObject([nothing, nothing]);
    expect(ofThird).toBe(2 + 3);
    expect([valuesIn(last), valuesIn(last, '11')]).toEqual([all, all]);
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
    for await (const one of source.poll(() => [question], stages, controller.signal)) {
      found.push(one);
    }

    expect(controller.signal.aborted).toBe(true);
    expect(found).toMatchObject([{ question, outcome: { error: undefined, failed: new Set() } }]);
    expect(source.costChanges()).toBe(0);
  });
});

const truth = {
  ...all,
  'HttpDispatcher average_response_time': 0.02,
  'OtherTransaction/all average_response_time': 0.02,
  'Memory/Physical used_bytes_by_host': 4096,
};

/** Those values that came are right. */
function expectTruth(outcome: PollOutcome): void {
  for (const host of [undefined, ...(outcome.reading?.hosts.keys() ?? [])]) {
    expect(truth).toMatchObject(valuesIn(outcome, host));
  }
}

describe('whatever New Relic leaves out, and in whatever order it answers', () => {
  const treatment = fc.constantFrom(
    'answer' as const,
    'others_without_values' as const,
    'others_missing' as const,
    new ApiError('throttled', 'too many', { status: 429 }),
    new ApiError('timeout', 'too slow'),
  );
  const fleet = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 5 });
  const treatments = fc.array(treatment, { maxLength: 40 });
  const presets = fc.shuffledSubarray([...presetNames]);

  it('no value is wrong, nothing is asked for too often, and in the end nothing is missing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fleet, treatments, presets, async (scheduler, ...some) => {
        const [hosts, treated, metrics] = some;
        let isInTrouble = true;
        const { source, calls, clock } = aBench(async (_call, number) => {
          if (!isInTrouble) return 'others_missing';
          return scheduler.schedule(Promise.resolve(treated[number - 1] ?? 'answer'));
        });
        const applications = hosts.map((count, at) =>
          anApp(
            `${at + 1}`,
            Array.from({ length: count }, (_, host) => `${at + 1}${host}`),
            metrics,
          ),
        );

        const troubled = await scheduler.waitFor(polled(source, applications));
        isInTrouble = false;
        await clock.advance(6 * hourMs);
        for (let trial = 0; trial < 4; trial += 1) await polled(source, applications);
        calls.splice(0);
        const healthy = await polled(source, applications);

        for (const outcome of [...troubled, ...healthy]) expectTruth(outcome);
        const planned = costOf(source, applications);
        expect(calls).toHaveLength(planned.application_metrics + planned.host_metrics);
        for (const outcome of healthy) {
          expect(outcome).toMatchObject({ extraCalls: 0, failed: new Set() });
          const { series = [] } = outcome.reading ?? {};
          const found = series.filter(({ metric }) => metric in allFacts);
          expect(Object.keys(valuesIn(outcome))).toHaveLength(found.length);
        }
      }),
      { numRuns: 60 },
    );
  });
});
