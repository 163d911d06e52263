import fc from 'fast-check';
import { expect } from 'vitest';
import type { TransactionType } from '../../../src/model/application.ts';
import type { AppEntry } from '../../../src/model/config.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { isReadOf } from '../../../src/model/polled-series.ts';
import { isWorthPolling } from '../../../src/model/selected-application.ts';
import type { Source } from '../../../src/model/source.ts';
import { nrqlValueOf } from '../../../src/newrelic/nerdgraph/nrql-values.ts';
import { pollUntilSettled } from '../../../src/poll/account-poller.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import { createFaults } from '../../../src/simulator/faults.ts';
import type { ApplicationSpec, HostSpec } from '../../../src/simulator/fleet-options.ts';
import type { GraphqlOptions } from '../../../src/simulator/graphql-options.ts';
import type { SimulatedApplication } from '../../../src/simulator/simulated-application.ts';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.ts';
import { anEntry, aQuestion } from '../../support/builders.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aRestSource } from '../rest/a-rest-source.ts';
import { aNerdGraphSource, pollGroups, transportTo } from './a-nerdgraph-source.ts';
import { someMetrics } from './some-metrics.ts';

/** What happens to an account before it is polled. */
type Event =
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'start' | 'stop' | 'silence' | 'idle'; readonly application: number };

/** An account, what happens to it, and what is wanted of it. */
export interface Story {
  readonly seed: number;
  readonly traffic: 'daily' | 'flat';
  readonly applications: readonly ApplicationSpec[];
  readonly events: readonly Event[];
  /** One for each application; the last one for the rest. */
  readonly entries: readonly AppEntry[];
}

const someRate = fc.oneof(
  fc.constantFrom(0.0005, 0.01, 0.3, 1),
  fc.double({ min: 0.1, max: 100_000, noNaN: true }),
);

const someHost: fc.Arbitrary<HostSpec> = fc.record({
  name: fc.oneof(
    fc.nat(99).map((number) => `host-${number}`),
    fc.nat(99).map((number) => `h${number}.example.com`),
    fc.constantFrom("o'brien", String.raw`dc\host`, 'Größe', '10.0.0.1'),
  ),
  weight: fc.constantFrom(1, 1, 0.001, 5),
});

const someApplication: fc.Arbitrary<ApplicationSpec> = fc
  .record({
    kind: fc.constantFrom('web', 'other', 'both', 'both', 'idle', 'not_reporting'),
    rate: someRate,
    hosts: fc.oneof(
      fc.array(someHost, { maxLength: 4 }),
      fc.array(someHost, { minLength: 12, maxLength: 18 }),
    ),
  })
  .map(({ kind, rate, hosts }) => ({
    kind,
    hosts,
    ...(kind === 'idle'
      ? {}
      : { webRpm: kind === 'other' ? 0 : rate, otherRpm: kind === 'web' ? 0 : rate / 3 }),
  })) as fc.Arbitrary<ApplicationSpec>;

const someEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.noBias(fc.integer({ min: 1, max: 2400 })).map((seconds): Event => ({ kind: 'wait', seconds })),
  fc.record({
    kind: fc.constantFrom(
      'start' as const,
      'stop' as const,
      'stop' as const,
      'silence' as const,
      'idle' as const,
    ),
    application: fc.nat(5),
  }),
);

const someEntry: fc.Arbitrary<AppEntry> = fc
  .record({
    hosts: fc.constantFrom<AppEntry['hosts']>(true, true, false, {
      kind: 'match',
      pattern: /[02468]/u,
    }),
    application: fc.constantFrom(true, true, false),
    transactions: fc.constantFrom<readonly TransactionType[]>(['web', 'other'], ['web'], ['other']),
    minutes: fc.constantFrom(1, 5, 30, 60),
    metrics: someMetrics,
  })
  .map(({ minutes, metrics, ...entry }) =>
    anEntry({
      ...entry,
      poll: { raw: true, metrics, window: { kind: 'range', lengthMs: minutes * 60_000 } },
    }),
  );

export const someStory: fc.Arbitrary<Story> = fc.record({
  seed: fc.integer({ min: 1, max: 1000 }),
  traffic: fc.constantFrom('daily' as const, 'flat' as const),
  applications: fc.noBias(fc.array(someApplication, { minLength: 1, maxLength: 6, size: 'max' })),
  events: fc.array(someEvent, { maxLength: 8, size: 'max' }),
  entries: fc.array(someEntry, { minLength: 1, maxLength: 6 }),
});

/** What makes New Relic refuse or cut large answers. */
export type Limit =
  | { readonly kind: 'none' }
  | { readonly kind: 'too_big' | 'slow'; readonly spare: number }
  | { readonly kind: 'truncated'; readonly rows: number };

export const someLimit: fc.Arbitrary<Limit> = fc.oneof(
  fc.record({ kind: fc.constantFrom('too_big' as const, 'slow' as const), spare: fc.nat(30) }),
  fc.record({ kind: fc.constant('truncated' as const), rows: fc.integer({ min: 8, max: 40 }) }),
);

/** What New Relic has of the hosts of the largest application at most, and of that itself. */
function mostRowsOf({ applications, events }: Story): number {
  const counts = applications.map(({ hosts }) => (Array.isArray(hosts) ? hosts.length : 0));
  return Math.max(...counts) + events.filter(({ kind }) => kind === 'start').length + 1;
}

/** What the exporter lets a query take, with a timeout of 30 s. */
const timeoutSeconds = 25;

/** The largest application alone is always answered. */
function graphqlOf(limit: Limit, story: Story): GraphqlOptions {
  if (limit.kind === 'none' || limit.kind === 'truncated') return {};
  const metrics = story.entries.map(({ series }) => new Set(series.map((one) => one.metric)).size);
  const mostRows = (Math.max(2, ...metrics) + 1) * mostRowsOf(story) + limit.spare;
  return limit.kind === 'too_big' ? { mostRows } : { rowsPerSecond: mostRows / timeoutSeconds };
}

/** What fails even of an application alone, in all parts at first, is not divided further at once. */
function faultsOf(limit: Limit, story: Story): readonly FaultRule[] {
  if (limit.kind !== 'truncated') return [];
  const rows = Math.max(limit.rows, mostRowsOf(story));
  return [{ when: { operation: 'nrql' }, fault: { kind: 'truncated', rows } }];
}

interface Told {
  readonly clock: FakeClock;
  readonly simulator: Simulator;
}

/** The account at the end of its story. The same story and clock give the same account. */
async function tell(story: Story, limit: Limit = { kind: 'none' }): Promise<Told> {
  const clock = createFakeClock();
  const simulator = createSimulator(
    {
      quotaPerMinute: 1_000_000,
      ingestDelayMs: 0,
      fleet: { seed: story.seed, traffic: story.traffic, applications: story.applications },
      graphql: graphqlOf(limit, story),
      intercept: createFaults(faultsOf(limit, story), { clock }).intercept,
    },
    { clock },
  );
  const { fleet } = simulator;
  for (const event of story.events) {
    if (event.kind === 'wait') {
      await clock.advance(event.seconds * 1000);
      continue;
    }
    const all = fleet.applications();
    const application = all[event.application % all.length];
    if (application === undefined) continue;
    const oldest = [...application.hosts.values()].find(({ endedMs }) => endedMs === undefined);

    if (event.kind === 'start') fleet.addHost(application.id, {});
    else if (event.kind === 'silence') fleet.setReporting(application.id, false);
    else if (event.kind === 'idle') fleet.setTraffic(application.id, { webRpm: 0 });
    else if (oldest !== undefined) fleet.removeHost(application.id, oldest.id);
  }
  return { clock, simulator };
}

/** Everything that a source finds, as the entries want it. */
async function outcomesOf(
  source: Source,
  { entries }: Story,
  { clock }: Pick<Told, 'clock'>,
): Promise<ReadonlyMap<string, PollOutcome>> {
  const { applications, error } = await source.discover({ selectors: [] }, [], neverAborted);
  if (error !== undefined) throw error;
  const byId = applications.toSorted((left, right) => Number(left.id) - Number(right.id));
  const questions = byId.flatMap((application, index) => {
    const entry = entries[index] ?? entries.at(-1);
    if (entry === undefined || !isWorthPolling({ application, entry })) return [];
    return [aQuestion({ application, entry })];
  });
  return pollUntilSettled(source, async () =>
    pollGroups(source, source.groups(questions, []), { clock }),
  );
}

async function restOutcomes(
  story: Story,
): Promise<Told & { readonly outcomes: ReadonlyMap<string, PollOutcome> }> {
  const told = await tell(story);
  const { source } = aRestSource(transportTo(told.simulator), told);
  return { ...told, outcomes: await outcomesOf(source, story, told) };
}

async function nerdGraphOutcomes(
  story: Story,
  limit?: Limit,
): Promise<ReadonlyMap<string, PollOutcome>> {
  const told = await tell(story, limit);
  const { source } = aNerdGraphSource(transportTo(told.simulator), told.clock);
  return outcomesOf(source, story, told);
}

/** The values of both sources, with the same name. */
interface Pair {
  readonly what: string;
  readonly isAmount: boolean;
  readonly nerdgraph: number | undefined;
  /** One for each host with the name. */
  readonly rest: readonly (number | undefined)[];
}

/** The same values. REST may say 0 of what had no calls in the window: NerdGraph has never seen it. */
function requireSame({ what, isAmount, nerdgraph, rest }: Pair): void {
  const present = rest.filter((value) => value !== undefined);
  const sum = present.reduce((all, value) => all + value, 0);
  const isSame =
    nerdgraph === undefined
      ? present.every((value) => value === 0)
      : present.length > 0 && isBetween(nerdgraph, isAmount ? [sum] : present);
  if (!isSame) {
    throw new Error(`${what}: NerdGraph has ${nerdgraph}, REST ${present.join(' and ')}`);
  }
}

/** Whether the value is the same as the others, or something between them. */
function isBetween(value: number, others: readonly number[]): boolean {
  const spare = 1e-9 * Math.max(1, ...others.map(Math.abs));
  return value >= Math.min(...others) - spare && value <= Math.max(...others) + spare;
}

/** Expects that both sources bring the same of a story. Absent and 0 may stand for each other. */
export async function expectEqualSources(story: Story): Promise<void> {
  const rest = await restOutcomes(story);
  const nerdgraph = await nerdGraphOutcomes(story);
  expect([...nerdgraph.keys()].toSorted()).toEqual([...rest.outcomes.keys()].toSorted());
  for (const [id, outcome] of nerdgraph) {
    const other = rest.outcomes.get(id);
    expect([outcome.error, outcome.failed.size, other?.error]).toEqual([undefined, 0, undefined]);
    const application = rest.simulator.fleet.application(Number(id));
    if (application === undefined) throw new Error(`no application ${id}`);
    for (const [index, one] of (outcome.reading?.series ?? []).entries()) {
      const { isAmount } = nrqlValueOf(one);
      const what = `${id} ${one.metric} ${one.value}`;
      const [own, wanted] = [outcome, other].map((each) => each?.reading?.application[index]);
      if (isReadOf('applications', one)) {
        requireSame({ what, isAmount, nerdgraph: own, rest: [wanted] });
      }
      if (!isReadOf('hosts', one)) continue;
      for (const [name, pair] of hostPairs(application, index, outcome, other)) {
        requireSame({ what: `${what} ${name}`, isAmount, ...pair });
      }
    }
  }
}

/** The values of one series, of the hosts by name; REST has several of those that have the same. */
function hostPairs(
  application: SimulatedApplication,
  index: number,
  { reading }: PollOutcome,
  other: PollOutcome | undefined,
): ReadonlyMap<string, Pick<Pair, 'nerdgraph' | 'rest'>> {
  const byName = new Map<string, (number | undefined)[]>();
  for (const [id, values] of other?.reading?.hosts ?? []) {
    const name = application.hosts.get(Number(id))?.name ?? id;
    byName.set(name, [...(byName.get(name) ?? []), values[index]]);
  }
  const names = new Set([...(reading?.hosts.keys() ?? []), ...byName.keys()]);
  const common = [...names].filter((name) => !isListedByOne(application, name, other));
  return new Map(
    common.map((name) => [
      name,
      { nerdgraph: reading?.hosts.get(name)?.[index], rest: byName.get(name) ?? [] },
    ]),
  );
}

/**
 * Whether REST does not list one of the hosts with this name, because it has ended or the application is
 * silent. NerdGraph has it as long as the window reaches back to it.
 */
function isListedByOne(
  { hosts, silentSinceMs }: SimulatedApplication,
  name: string,
  other: PollOutcome | undefined,
): boolean {
  return [...hosts].some(
    ([id, host]) =>
      host.name === name &&
      (host.endedMs !== undefined || silentSinceMs !== undefined) &&
      other?.reading?.hosts.has(String(id)) !== true,
  );
}

/** Expects that a limit of New Relic changes nothing once the queries are small enough. */
export async function expectSameWithin(story: Story, limit: Limit): Promise<void> {
  const wanted = await nerdGraphOutcomes(story);
  const limited = await nerdGraphOutcomes(story, limit);
  expect(limited.size).toBe(wanted.size);
  for (const [id, outcome] of limited) expect(outcome).toEqual(wanted.get(id));
}
