import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { presetNames } from '../../../src/model/presets.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { CallsByOperation, Source } from '../../../src/model/source.ts';
import { dayMs } from '../../../src/model/time.ts';
import { aMetric, aSelected } from '../../support/builders.ts';
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
      expect(textsOf(calls)).toEqual(kinds.flatMap((names) => [names, `21 ${names}`]));
      expect(outcomes.map((outcome) => valuesIn(outcome))).toEqual([all, all]);
      expect(outcomes[1] && valuesIn(outcomes[1], '21')).toEqual(all);
      expect(outcomes).toMatchObject([
        { failed: new Set(), error: undefined, partCount: 1 },
        { failed: new Set(), error: undefined, partCount: 2 },
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

  it('completes every part that is polled at the same time, and is told once', async () => {
    const { source, calls, logged, unexpected } = aBench(async ({ hostId = '0' }) => {
      for (let left = Number(hostId); left > 0; left -= 1) await new Promise(setImmediate);
      return 'others_missing' as const;
    });
    const fleet = ['1', '2', '3'].map((id) => anApp(id, [`${id}1`, `${id}2`]));

    const outcomes = await polled(source, fleet);

    const parts = outcomes.flatMap((one) =>
      [undefined, ...(one.reading?.hosts.keys() ?? [])].map((host) => valuesIn(one, host)),
    );
    expect(parts).toEqual(Array.from({ length: 9 }, () => all));
    expect(calls).toHaveLength(9 * (1 + kinds.length));
    expect(logged).toHaveLength(1);
    expect(unexpected).toEqual(['values_missing']);
  });

  it('is believed until a restart, even if later answers are whole', async () => {
    let isFaulty = true;
    const { source, calls, clock } = aBench(() => (isFaulty ? 'others_missing' : 'answer'));
    await polledOne(source, anApp('1'));
    isFaulty = false;
    await clock.advance(dayMs);
    calls.splice(0);

    const outcome = await polledOne(source, anApp('1'));

    expect(textsOf(calls)).toEqual(kinds);
    expect(valuesIn(outcome)).toEqual(all);
  });

  it('is seen in one of two calls, where one URL is too short', async () => {
    const long = Array.from({ length: 14 }, (_, at) =>
      aMetric(`Custom/${at}/${'x'.repeat(230)}`, { as: `custom_${at}` }),
    );
    const some = long.filter((_, at) => at === 3 || at === 13);
    const facts = Object.fromEntries(some.map(({ metric }) => [metric, { average_value: 3 }]));
    const { source, calls } = aBench(() => 'others_missing', { ...allFacts, ...facts });
    const application = anApp('1', [], ['apdex', ...long]);

    const outcome = await polledOne(source, application);

    expect(calls.map(({ values }) => values.length)).toEqual([3, 1, 2, 1]);
    expect(Object.values(valuesIn(outcome))).toEqual([0.9, 3, 3]);
    expect(source.metricCalls?.([application.entry])).toContain('at a time');
  });
});

describe("the end of the vendor's own window", () => {
  it('is the earliest of the answers that bring the values', async () => {
    const { source } = aBench(() => 'others_missing');
    const metrics = ['throughput', 'errors', 'apdex'] as const;
    const selected = aSelected(
      { id: '1', hostIds: [] },
      { poll: { metrics, window: { kind: 'vendor_default' } } },
    );

    const { reading } = await polledOne(source, selected);

    expect(reading?.windowEndMs).toBe(Date.UTC(2026, 8, 1, 10, 2));
  });
});

describe('an answer that says nothing of a metric', () => {
  it.each([
    { what: 'it is found without any value', treatment: 'answer', apdex: { Apdex: {} } },
    { what: 'it is neither found nor missing', treatment: 'without_not_found', apdex: {} },
  ] as const)('is tried once if $what apart either', async ({ treatment, apdex }) => {
    const { Apdex: score, ...facts } = allFacts;
    expect(score).toBeDefined();
    const bench = aBench(() => treatment, { ...facts, ...apdex });
    const { source, calls, unexpected, logged } = bench;
    const fleet = [anApp('1', ['11']), anApp('2')];
    const first = await polledOne(source, anApp('0'));
    expect(textsOf(calls.splice(0))).toEqual([kinds.join(), ...kinds]);

    const outcomes = [first, ...(await polled(source, fleet)), ...(await polled(source, fleet))];

    const { 'Apdex score': _, ...others } = all;
    for (const outcome of outcomes) expect(valuesIn(outcome)).toEqual(others);
    const ofPoll = [kinds.join(), `11 ${kinds.join()}`, kinds.join()];
    expect(textsOf(calls)).toEqual([...ofPoll, ...ofPoll]);
    expect([unexpected, logged, source.costChanges()]).toEqual([[], [], 0]);
    expect(costOf(source, fleet)).toMatchObject({ application_metrics: 2, host_metrics: 1 });
  });

  it.each(['not_found', 'client'] as const)(
    'is tried twice if apart it is refused (%s): the application has just answered',
    async (reason) => {
      const { Apdex: score, ...facts } = allFacts;
      expect(score).toBeDefined();
      const { source, calls } = aBench(
        ({ names }) =>
          names.join() === 'Apdex' ? new ApiError(reason, 'no') : 'without_not_found',
        facts,
      );

      const outcomes = [
        await polledOne(source, anApp('1')),
        await polledOne(source, anApp('1')),
        await polledOne(source, anApp('1', ['11'])),
      ];

      const { 'Apdex score': _, ...others } = all;
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ error: undefined, failed: new Set(), gone: false });
        expect(valuesIn(outcome)).toEqual(others);
      }
      const ofFirst = [kinds.join(), ...kinds];
      const ofLast = [kinds.join(), `11 ${kinds.join()}`];
      expect(textsOf(calls)).toEqual([...ofFirst, ...ofFirst, ...ofLast]);
    },
  );

  it.each([0, 1])(
    'is tried with the next host if this one ends after %i of the calls',
    async (answered) => {
      const gone = new ApiError('not_found', 'no', { status: 404 });
      let ofFirst = 0;
      const { source } = aBench(({ hostId }) => {
        if (hostId === '11') ofFirst += 1;
        return hostId === '11' && ofFirst > 1 + answered ? gone : 'others_missing';
      });
      const ofHosts = (id: string) =>
        aSelected({ id: '1', hostIds: [id] }, { ...anApp('1').entry, application: false });

      await polledOne(source, ofHosts('11'));

      expect(valuesIn(await polledOne(source, ofHosts('12')), '12')).toEqual(all);
    },
  );

  it('is a whole one where the answer says that it was not found, or that it has no data', async () => {
    const { HttpDispatcher: web, 'Errors/allWeb': errors, Apdex: apdex } = allFacts;
    expect([web, errors, apdex]).not.toContain(undefined);
    const idle = { average_response_time: 0, call_count: 0 };
    const { source, calls } = aBench(undefined, { HttpDispatcher: idle });

    await polledOne(source, anApp('1', [], ['response_time', 'errors', 'apdex']));

    expect(calls).toHaveLength(1);
  });
});

describe('a call for what was asked for apart', () => {
  it.each([
    { what: 'fails', error: new ApiError('server', 'no', { status: 503 }) },
    { what: 'is refused', error: new ApiError('throttled', 'no', { status: 429 }) },
  ])('fails its part if it $what, and the next poll asks again', async ({ error }) => {
    let isDown = true;
    const { source } = aBench(({ names, hostId }) =>
      isDown && hostId === undefined && names.join() === 'Apdex' ? error : 'others_missing',
    );
    const application = anApp('1', ['11']);

    const failed = await polledOne(source, application);
    isDown = false;
    const last = await polledOne(source, application);

    expect(failed).toMatchObject({ error, failed: new Set(['application']), gone: false });
    expect(valuesIn(failed, '11')).toEqual(all);
    expect(last).toMatchObject({ error: undefined, failed: new Set() });
    expect([valuesIn(last), valuesIn(last, '11')]).toEqual([all, all]);
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
        const { source, calls } = aBench(async (_call, number) => {
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
        await polled(source, applications);
        calls.splice(0);
        const healthy = await polled(source, applications);

        for (const outcome of [...troubled, ...healthy]) expectTruth(outcome);
        const planned = costOf(source, applications);
        expect(calls).toHaveLength(planned.application_metrics + planned.host_metrics);
        for (const outcome of healthy) {
          expect(outcome).toMatchObject({ failed: new Set() });
          const { series = [] } = outcome.reading ?? {};
          const found = series.filter(({ metric }) => metric in allFacts);
          expect(Object.keys(valuesIn(outcome))).toHaveLength(found.length);
        }
      }),
      { numRuns: 60 },
    );
  });
});
