import type { Daemon } from '../../src/daemon/accounts.ts';
import type { Clock } from '../../src/model/clock.ts';
import { type ParsedSample, parseExposition } from '../support/exposition-parser.ts';
import {
  emptyEvent,
  isKept,
  isWanted,
  nameOf,
  type QuerySetup,
  questionOf,
  type Setup,
  truthOf,
} from './query-setups.ts';

export interface PageRulesDependencies {
  readonly clock: Clock;
  /** The ids of all applications. */
  readonly fleet: readonly string[];
  readonly report: (problem: string) => void;
}

/**
 * The names of the queries that have rows on the page, and the wall time at which these are dropped; infinite
 * while its polls do not fail.
 */
export type ShownQueries = ReadonlyMap<string, number>;

/** What the pages may say of a configuration. */
export interface PageRules {
  shown(): Promise<ShownQueries>;
  check(setup: Setup): Promise<void>;
  /** Right after a reload: what goes on as it was is shown as before. */
  checkKept(shown: ShownQueries, before: Setup, after: Setup): Promise<void>;
  /** After a calm time: everything is shown. */
  checkWhole(setup: Setup): Promise<void>;
}

const ofQuery = /^asked_\d+$/u;

export function createPageRules(
  daemon: Daemon,
  { clock, fleet, report }: PageRulesDependencies,
): PageRules {
  const samplesOf = async (): Promise<readonly Sample[]> => {
    try {
      // It throws if a series stands there twice.
      const families = parseExposition(Buffer.concat((await daemon.store.page()).identity));
      return families.flatMap(({ samples }) => samples.map(sampleOf));
    } catch (error) {
      report(`the page cannot be read: ${String(error)}`);
      return [];
    }
  };
  const shown = async (): Promise<ShownQueries> => {
    const names = (await samplesOf()).map(({ name }) => name).filter((name) => ofQuery.test(name));
    const queries = daemon.status()[0]?.queries ?? [];
    const drops = new Map(queries.map(({ name, dropMs = Infinity }) => [name, dropMs]));
    return new Map(names.map((name) => [name, drops.get(name) ?? Infinity]));
  };

  const checkValue = ({ name, labels, value }: Sample, query: QuerySetup | undefined): void => {
    if (query === undefined) return report(`${name} is shown and not configured`);
    const rows = truthOf(questionOf(query)).slice(0, query.maxSeries);
    const row = rows.find(([appName]) => appName === labels.get('app_name'));
    if (row?.[1] !== value)
      report(`${name} shows ${value} for another question than ${questionOf(query)}`);
    if (labels.get('constant') !== query.label) report(`${name} has the label of another time`);
  };
  const checkSample = (sample: Sample, setup: Setup): void => {
    const { name, labels } = sample;
    const byName = new Map(setup.queries.map((query) => [nameOf(query), query]));
    const query = labels.get('query');
    const id = labels.get('app_id');
    if (ofQuery.test(name)) checkValue(sample, byName.get(name));
    if (query !== undefined && !byName.has(query)) report(`${name} is of ${query}, not configured`);
    if (id === undefined) return;
    if (!fleet.includes(id) || !isWanted(setup, id)) report(`${name} is of the application ${id}`);
    if (labels.get('label') !== setup.label) report(`${name} of ${id} has an old label`);
  };
  const checkStatus = (setup: Setup): void => {
    const queries = daemon.status()[0]?.queries?.map(({ name }) => name) ?? [];
    if (queries.toSorted().join() !== setup.queries.map(nameOf).toSorted().join()) {
      report(`the status has the queries ${queries.join()}`);
    }
    for (const { id } of daemon.applications()) {
      if (!fleet.includes(id) || !isWanted(setup, id))
        report(`the status has the application ${id}`);
    }
  };

  return {
    shown,
    check: async (setup) => {
      for (const sample of await samplesOf()) checkSample(sample, setup);
      for (const sample of await ownSamples(daemon)) checkSample(sample, setup);
      checkStatus(setup);
    },
    checkKept: async (shownBefore, before, after) => {
      const now = await shown();
      for (const query of before.queries) {
        const next = after.queries.find(({ number }) => number === query.number);
        const name = nameOf(query);
        const dropMs = shownBefore.get(name);
        if (dropMs === undefined || !isKept(query, next) || now.has(name)) continue;
        // Held rows end when polls have failed for longer than what `stale_after` is now.
        const shorterByMs = query.staleAfterMs - next.staleAfterMs;
        if (dropMs - shorterByMs > clock.wallMs()) {
          report(`${name} has lost its rows in a reload that keeps it`);
        }
      }
    },
    checkWhole: async (setup) => {
      if (setup.wants === 'none' && setup.queries.length === 0) return;
      const now = await samplesOf();
      const count = (name: string): number => now.filter((one) => one.name === name).length;
      for (const query of setup.queries) {
        const rows = Math.min(truthOf(questionOf(query)).length, query.maxSeries);
        if (count(nameOf(query)) !== rows) report(`${nameOf(query)} has not all its rows`);
      }
      const wanted = fleet.filter((id) => isWanted(setup, id));
      const polled = now.filter(
        ({ name, value }) => name === 'newrelic_application_poll_success' && value === 1,
      );
      if (polled.length !== wanted.length)
        report(`${polled.length} of ${wanted.length} are polled`);
      if (!now.some(({ name, value }) => name === 'newrelic_up' && value === 1))
        report('it is not up');
      const missing = (await ownSamples(daemon)).map(({ labels }) => labels.get('query') ?? '');
      const empty = setup.queries.filter(({ event }) => event === emptyEvent).map(nameOf);
      if (missing.toSorted().join() !== empty.toSorted().join()) {
        report(`${missing.join()} are said to have no value, not ${empty.join()}`);
      }
    },
  };
}

interface Sample extends Omit<ParsedSample, 'labels'> {
  readonly labels: ReadonlyMap<string, string>;
}

function sampleOf({ labels, ...sample }: ParsedSample): Sample {
  return { ...sample, labels: new Map(labels) };
}

/** Those metrics of the exporter itself that name a query. */
async function ownSamples(daemon: Daemon): Promise<readonly Sample[]> {
  const families = parseExposition(Buffer.from(await daemon.metrics.text()));
  return families
    .flatMap(({ samples }) => samples.map(sampleOf))
    .filter(({ labels }) => labels.has('query'));
}
