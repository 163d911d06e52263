import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../../src/model/time.ts';
import { printedOn } from '../survey/ask-bench.ts';
import { temporaryDirectory } from './backfill-bench.ts';
import { pastVendor } from './past-vendor.ts';
import {
  applicationsOf,
  heartbeat,
  type PastMetric,
  type PastQuery,
  pastAmounts,
  pastLevels,
  pastMetrics,
  pastQueries,
  salesOf,
  type Timeslice,
  type TrueApplication,
  timesliceOf,
  type World,
} from './past-world.ts';

/** `FC_RUNS=1000` for more of them; `FC_SEED` and `FC_PATH` for the run that a failure names. */
const { FC_RUNS, FC_SEED, FC_PATH } = process.env;
const numRuns = Number(FC_RUNS ?? 30);
const begunAt = '2026-09-01T10:00:30Z';
const nowMs = Date.parse(begunAt);

const choices = [...new Set(pastMetrics.slice(0, 15).map(({ choice }) => choice))];
const customs = pastMetrics.slice(15).map((_, index) => 15 + index);

const timing = {
  account: fc.nat(),
  /** Of how many steps; 0 for New Relic's own. */
  window: fc.constantFrom(1, 2, 3, 6, 12, 0),
  delay: fc.constantFrom('0s', '17s', '90s', '3m', '4m'),
};
type Timing = Readonly<Record<'account' | 'window', number> & Record<'delay', string>>;

const setups = fc.record({
  world: fc.nat(),
  accounts: fc.integer({ min: 1, max: 3 }),
  stepMinutes: fc.constantFrom(1, 2, 5, 10),
  minutes: fc.integer({ min: 40, max: 200 }),
  /** When the range ends, before now. The first of these in the middle of what becomes eight days old. */
  agoMinutes: fc.oneof(
    fc.integer({ min: 8 * 1440 - 290, max: 8 * 1440 - 190 }),
    fc.integer({ min: 0, max: 7 * 1440 }),
    fc.integer({ min: 8 * 1440, max: 80 * 1440 }),
  ),
  seconds: fc.constantFrom(0, 17),
  only: fc.constantFrom('all', 'all', 'all', 'apps', 'queries'),
  mostWindows: fc.constantFrom(366, 366, 40),
  apps: fc
    .array(
      fc.record({
        ...timing,
        match: fc.constantFrom('.', '1$', '^shop-', '^billing "', 'old$'),
        exclude: fc.constantFrom(false, false, false, true),
        hosts: fc.constantFrom(true, true, false, 'self', { match: '1' }, { exclude: '^web' }),
        application: fc.boolean(),
        transactions: fc.constantFrom<string[][]>(['web', 'other'], ['web'], ['other']),
        presets: fc.subarray(choices, { minLength: 1 }),
        customs: fc.subarray(customs),
        labels: fc.constantFrom({}, { squad: 'a "b" \\c' }),
        tags: fc.constantFrom({}, { team: 'owners' }),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .filter((apps) => apps.some(({ exclude }) => !exclude)),
  queries: fc.subarray([...pastQueries.keys()], { minLength: 1 }),
  polls: fc.array(fc.record(timing), { minLength: 10, maxLength: 10 }),
});
type Setup = typeof setups extends fc.Arbitrary<infer Some> ? Some : never;
type App = Setup['apps'][number];

const idOf = (account: number): number => 41 + account;
const gaugeOf = (index: number, member: string): string => `past_${index}_${member}`;
const queriesOf = ({
  queries,
  polls,
}: Setup): readonly (Timing & PastQuery & { index: number })[] =>
  queries.flatMap((index) => {
    const [query, poll] = [pastQueries[index], polls[index]];
    return query && poll ? [{ ...query, ...poll, index }] : [];
  });

/** The file of a setup. */
function fileOf(setup: Setup): string {
  const { accounts, stepMinutes } = setup;
  const of = ({ account }: Timing) => ({ account: `account ${account % accounts}` });
  const timed = ({ window, delay, ...rest }: Timing) => {
    return {
      ...of({ window, delay, ...rest }),
      delay,
      window: window ? `${window * stepMinutes}m` : 'default',
    };
  };
  return JSON.stringify({
    accounts: Array.from({ length: accounts }, (_, index) => ({
      name: `account ${index}`,
      base_url: 'http://127.0.0.1',
      api_key_env: 'KEY',
      account_id: idOf(index),
      source: 'nerdgraph',
    })),
    apps: setup.apps.map((app) => {
      const { match, exclude, hosts, transactions, labels, tags, presets } = app;
      if (exclude) return { ...of(app), match, exclude };
      const own = app.customs.flatMap((one) => pastMetrics[one] ?? []);
      const written = own.map(({ choice: value, as, metric, more }) => ({
        value,
        as,
        metric,
        ...more,
      }));
      const application = app.application || hosts === false;
      const how = { match, hosts, application, transactions, labels, tags };
      return { ...timed(app), ...how, metrics: [...presets, ...written] };
    }),
    queries: queriesOf(setup).map(({ index, nrql, facets, gauges, ...poll }) => {
      const names = gauges.map(([member]) => [member, gaugeOf(index, member)] as const);
      const as = names[0]?.[0] === 'q' ? names[0][1] : Object.fromEntries(names);
      const labels = facets.length > 1 ? { kind: 'sort' } : {};
      const more = { labels, constant_labels: { squad: 'x' } };
      return { as, nrql, ...timed({ ...poll }), ...more };
    }),
  });
}

type Sample = readonly [key: string, value: number];
type Samples = Map<string, number>;
type Labels = Readonly<Record<string, string>>;
interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** An empty label is none. */
function keyOf(name: string, labels: Labels, timeMs: number): string {
  const all = Object.entries(labels).flatMap(([label, text]) => (text ? `${label}=${text}` : []));
  return `${name} ${JSON.stringify(all.toSorted())} ${new Date(timeMs).toISOString()}`;
}

/** What begins before, of what is rolled up, is asked by the hour: eight days, and three hours to spare. */
const edgeMs = nowMs - 8 * dayMs + 3 * hourMs;

/** The window of each sample: what a poll asks at its time, or of what is old the last whole hours. */
function momentsOf(
  { fromMs, toMs }: Range,
  { stepMinutes }: Setup,
  poll: Timing,
  rollsUp: boolean,
) {
  const stepMs = stepMinutes * minuteMs;
  const delayMs = Number.parseInt(poll.delay, 10) * (poll.delay.endsWith('m') ? minuteMs : 1000);
  const lengthMs = poll.window ? poll.window * stepMs : 30 * minuteMs;
  const moments: { timeMs: number; window: Range; minutes: number }[] = [];
  for (let timeMs = Math.ceil(fromMs / stepMs) * stepMs; timeMs <= toMs; timeMs += stepMs) {
    const cut = (ms: number, size: number): number => Math.floor((ms - delayMs) / size) * size;
    const isOld = rollsUp && cut(timeMs, minuteMs) - lengthMs < edgeMs;
    const size = isOld ? hourMs : minuteMs;
    const [endMs, whole] = [cut(timeMs, size), Math.ceil(lengthMs / size) * size];
    const window = { fromMs: endMs - whole, toMs: endMs };
    // Each hour once: when a scrape would first have shown it.
    const isNew = !isOld || cut(timeMs - stepMs, size) !== endMs;
    if (isNew) moments.push({ timeMs, window, minutes: whole / minuteMs });
  }
  return moments;
}

function isChosen(host: string, { hosts }: App): boolean {
  if (typeof hosts === 'boolean') return hosts;
  if (typeof hosts === 'string') return host === 'own-pod';
  return 'exclude' in hosts ? !host.startsWith('web') : host.includes('1');
}

function metricsOf({ presets, customs: own, transactions }: App): readonly PastMetric[] {
  const ofType = pastMetrics.filter(({ type }) => type === '' || transactions.includes(type));
  return ofType.filter(
    (one) => presets.includes(one.choice) || own.some((at) => pastMetrics[at] === one),
  );
}

type Subject = readonly [scope: string, hosts: TrueApplication['hosts'], labels: Labels];

/** The application as a whole, and the hosts of it that are shown. */
function subjectsOf(app: App, setup: Setup, { id, name, hosts, tags }: TrueApplication) {
  const account = `account ${app.account % setup.accounts}`;
  const owners = 'team' in app.tags ? (tags['team'] ?? []).join(',') : '';
  const labels: Labels = { account, app_id: `${id}`, app_name: name, ...app.labels, owners };
  const own = hosts.flatMap((host): readonly Subject[] =>
    host !== null && isChosen(host, app)
      ? [['hosts', [host], { ...labels, host_id: host, host_name: host }]]
      : [],
  );
  const isShown = app.application || app.hosts === false;
  return isShown ? [['applications', hosts, labels] as const, ...own] : own;
}

/** What the file must have of an application, or of a host. */
function* subjectSamples(
  told: (metric: string, window: Range) => Timeslice,
  [scope, , labels]: Subject,
  read: readonly PastMetric[],
  moments: ReturnType<typeof momentsOf>,
): Iterable<Sample> {
  /** Metrics that have had something else than 0. */
  const seen = new Set<string>();
  for (const { timeMs, window, minutes } of moments) {
    const isLive = told(heartbeat, window).count > 0;
    const found = read.map((one) => {
      const [timeslice, amount] = [told(one.metric, window), pastAmounts[one.of]];
      const value = (amount ?? pastLevels[one.of])?.(timeslice, minutes) ?? 0;
      return { ...one, value, isAmount: amount !== undefined, isThere: timeslice.count > 0 };
    });
    for (const { metric, value, isAmount } of found) if (isAmount && value > 0) seen.add(metric);
    for (const { as, metric, type, value, isAmount, isThere, more } of found) {
      const isZero = isAmount && value === 0;
      if (isZero ? !(isLive && seen.has(metric)) : !isThere) continue;
      const hostName = as.replace(/^(newrelic_application_)?/u, '$1host_');
      const own = { ...labels, transaction_type: type, ...more.labels };
      yield [keyOf(scope === 'hosts' ? hostName : as, own, timeMs), value * (more.scale ?? 1)];
    }
  }
}

/** What the file must have of a query. */
function* querySamples(
  world: World,
  { index, nrql, facets, gauges, where, ...poll }: ReturnType<typeof queriesOf>[number],
  setup: Setup,
  range: Range,
): Iterable<Sample> {
  const place = poll.account % setup.accounts;
  for (const { timeMs, window, minutes } of momentsOf(range, setup, poll, / Metric /u.test(nrql))) {
    const sales = salesOf(world, idOf(place), window).filter(where);
    const textsOf = (sale: (typeof sales)[number]) => facets.map((one) => `${sale[one] ?? ''}`);
    const groups = new Map(sales.map((sale) => [textsOf(sale).join(), textsOf(sale)]));
    if (facets.length === 0) groups.set('', []);
    const rows = [...groups.values()].map((texts) => {
      const own = sales.filter((sale) => textsOf(sale).join() === texts.join());
      const values = gauges.flatMap(([member, of]) => {
        const value = of(own, minutes);
        const all =
          typeof value === 'object' && value !== null
            ? Object.entries(value)
            : [['0', value] as const];
        return all.flatMap(([percent, one]) => (one === null ? [] : [{ member, percent, one }]));
      });
      return { texts, values };
    });
    for (const { texts, values } of rows) {
      const own = facets.map((one, nth) => [
        facets.length > 1 && one === 'kind' ? 'sort' : one,
        texts[nth] ?? '',
      ]);
      for (const { member, percent, one } of values) {
        const quantile = percent === '0' ? '' : `${Number(percent) / 100}`;
        const labels = {
          account: `account ${place}`,
          squad: 'x',
          ...Object.fromEntries(own),
          quantile,
        };
        yield [keyOf(gaugeOf(index, member), labels, timeMs), one];
      }
    }
  }
}

function expectedOf(world: World, setup: Setup, range: Range): Samples {
  const accounts = Array.from({ length: setup.accounts }, (_, index) => index);
  const ofApplications = accounts.flatMap((account) =>
    applicationsOf(idOf(account)).flatMap((application) => {
      const entries = setup.apps.filter((one) => one.account % setup.accounts === account);
      const app = entries.find(({ match }) => new RegExp(match, 'u').test(application.name));
      if (app === undefined || app.exclude) return [];
      const moments = momentsOf(range, setup, app, true);
      return subjectsOf(app, setup, application).flatMap((subject) => {
        const [scope, hosts] = subject;
        const read = metricsOf(app).filter(({ more }) => (more.for ?? scope) === scope);
        const told = (metric: string, window: Range): Timeslice =>
          timesliceOf(world, application, hosts, metric, window);
        return [...subjectSamples(told, subject, read, moments)];
      });
    }),
  );
  const ofQueries = queriesOf(setup).flatMap((one) => [...querySamples(world, one, setup, range)]);
  return new Map([
    ...(setup.only === 'queries' ? [] : ofApplications),
    ...(setup.only === 'apps' ? [] : ofQueries),
  ]);
}

/** Throws if a line is none, or if there are two of the same. */
function samplesIn(text: string): Samples {
  const samples: Samples = new Map();
  for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
    const [, name, labels = '', value, time] =
      /^(\w+)\{((?:\w+="(?:\\.|[^"\\])*",?)*)\} (\S+) (\d+)$/u.exec(line) ?? [];
    const read = [...labels.matchAll(/(\w+)=("(?:\\.|[^"\\])*")/gu)].map(
      ([, label = '', quoted = '']) => [label, JSON.parse(quoted) as string] as const,
    );
    const key = keyOf(name ?? '', Object.fromEntries(read), Number(time) * 1000);
    if (name === undefined || samples.has(key)) throw new Error(`no sample, or twice: ${line}`);
    samples.set(key, Number(value));
  }
  return samples;
}

async function differencesOf(setup: Setup) {
  const { world: number, mostWindows, stepMinutes, minutes, agoMinutes, seconds, only } = setup;
  const world = { number, nowMs, mostWindows };
  const toMs = nowMs - 30_000 - agoMinutes * minuteMs + seconds * 1000;
  const range = { fromMs: toMs - minutes * minuteMs, toMs };
  const [from, to] = [range.fromMs, toMs].map((ms) => new Date(ms).toISOString());
  const output = join(await temporaryDirectory(), 'past.om');
  const flags = [`--from=${from}`, `--to=${to}`, `--step=${stepMinutes}m`, `--only=${only}`];
  const { exitCode, stderr } = await printedOn(
    { openTransport: async () => pastVendor(world) },
    {},
    ['backfill', 'c.yaml', ...flags, '--budget=3000', `--output=${output}`],
    { 'c.yaml': fileOf(setup) },
    begunAt,
  );
  if (exitCode !== 0) throw new Error(stderr);
  const found = samplesIn(await readFile(output, 'utf8'));
  const expected = expectedOf(world, setup, range);
  const differences = [...new Set([...found.keys(), ...expected.keys()])].flatMap((key) => {
    const [one, other] = [found.get(key), expected.get(key)];
    const isThere = one !== undefined && other !== undefined;
    const isSame = isThere && Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other));
    return isSame ? [] : [`${key}: ${one}, not ${other}`];
  });
  return { differences, expected };
}

describe('backfill, of what a vendor has that is not the simulator', () => {
  it('has each sample that an own calculation has, and no other one', async () => {
    const counts = { samples: 0, zeros: 0 };
    await fc.assert(
      fc.asyncProperty(setups, async (setup) => {
        const { differences, expected } = await differencesOf(setup);
        expect(differences.slice(0, 8)).toEqual([]);
        counts.samples += expected.size;
        counts.zeros += [...expected.values()].filter((value) => value === 0).length;
      }),
      { numRuns, seed: Number(FC_SEED ?? 8), path: FC_PATH ?? '', endOnFailure: true },
    );

    expect(counts.samples).toBeGreaterThan(100 * numRuns);
    expect(counts.zeros).toBeGreaterThan(numRuns);
  });
});
