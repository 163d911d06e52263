import type { Clock } from '../model/clock.ts';
import { minuteMs } from '../model/time.ts';
import { type Answer, documentAnswer } from './answer.ts';
import type { CallCounter } from './call-counter.ts';
import {
  applicationDocument,
  applicationsDocument,
  hostDocument,
  hostsDocument,
} from './documents.ts';
import type { Fleet } from './fleet.ts';
import { type LinkStyle, pageOf } from './paging.ts';
import type { Query } from './request.ts';
import {
  type MetricName,
  records,
  type SimulatedApplication,
  type SimulatedHost,
} from './simulated-application.ts';
import type { Timeslices } from './timeslices.ts';

/** `none`: always the same order. The others rotate the list by one for each listing or call. */
export type Shuffle = 'none' | 'per_listing' | 'per_call';

export interface ListOptions {
  readonly pageSize: number;
  readonly linkStyle: LinkStyle;
  readonly shuffle: Shuffle;
}

export interface AccountDependencies {
  readonly fleet: Fleet;
  readonly calls: CallCounter;
  readonly timeslices: Timeslices;
  readonly clock: Clock;
}

/** Answers with lists and single records of applications and hosts. */
export interface ApplicationRoutes {
  applications(path: string, query: Query): Answer;
  application(application: SimulatedApplication): Answer;
  hosts(application: SimulatedApplication, path: string, query: Query): Answer;
  host(application: SimulatedApplication, host: SimulatedHost): Answer;
}

/** The summaries are means over the newest complete minutes. */
const summaryMinutes = 4;
const summaryDelayMs = 3 * minuteMs;

function idFilter(text: string | undefined): ReadonlySet<string> | undefined {
  if (text === undefined || text === '') return undefined;
  return new Set(text.split(',').map((part) => part.trim()));
}

function rotated<Item>(items: readonly Item[], by: number): readonly Item[] {
  const start = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

/** All filters must match. `filter[name]` matches a part of the name and ignores case. */
function filteredApplications(fleet: Fleet, query: Query): readonly SimulatedApplication[] {
  const ids = idFilter(query.last('filter[ids]'));
  const name = query.last('filter[name]')?.toLowerCase();
  const host = query.last('filter[host]');
  const language = query.last('filter[language]');
  return fleet
    .applications()
    .filter(
      (application) =>
        (ids === undefined || ids.has(String(application.id))) &&
        (name === undefined || application.name.toLowerCase().includes(name)) &&
        (language === undefined || application.language === language) &&
        (host === undefined || fleet.listedHosts(application).some((entry) => entry.name === host)),
    );
}

function filteredHosts(hosts: readonly SimulatedHost[], query: Query): readonly SimulatedHost[] {
  const ids = idFilter(query.last('filter[ids]'));
  const hostname = query.last('filter[hostname]');
  return hosts.filter(
    (host) =>
      (ids === undefined || ids.has(String(host.id))) &&
      (hostname === undefined || host.name.includes(hostname)),
  );
}

export function createApplicationRoutes(
  options: ListOptions,
  dependencies: AccountDependencies,
): ApplicationRoutes {
  const { fleet, calls, clock } = dependencies;
  let rotations = 0;

  const throughput = (application: SimulatedApplication, host?: SimulatedHost): number => {
    const toMs = Math.floor((clock.wallMs() - summaryDelayMs) / minuteMs) * minuteMs;
    const metric: MetricName = records(application, 'HttpDispatcher')
      ? 'HttpDispatcher'
      : 'OtherTransaction/all';
    const fromMs = toMs - summaryMinutes * minuteMs;
    return calls.count(application, host, metric, fromMs, toMs) / summaryMinutes;
  };

  const applicationRecord = (
    application: SimulatedApplication,
    includeLinks: boolean,
  ): Readonly<Record<string, unknown>> =>
    applicationDocument(application, {
      nowMs: clock.wallMs(),
      listedHosts: fleet.listedHosts(application),
      throughput: throughput(application),
      includeLinks,
    });

  const ordered = <Item>(items: readonly Item[], query: Query): readonly Item[] => {
    if (options.shuffle === 'none') return items;
    const continues = options.shuffle === 'per_listing' && (query.last('page') ?? '1') !== '1';
    if (!continues) rotations += 1;
    return rotated(items, rotations);
  };

  return {
    applications: (path, query) => {
      const all = ordered(filteredApplications(fleet, query), query);
      const page = pageOf(all, { ...options, page: query.last('page'), path });
      const includeLinks = !query.flag('exclude_links');
      const documents = page.items.map((item) => applicationRecord(item, includeLinks));
      return documentAnswer(applicationsDocument(documents), page.link);
    },
    application: (application) =>
      documentAnswer({ application: applicationRecord(application, true) }),
    hosts: (application, path, query) => {
      const all = ordered(filteredHosts(fleet.listedHosts(application), query), query);
      const page = pageOf(all, { ...options, page: query.last('page'), path });
      const documents = page.items.map((item) =>
        hostDocument(application, item, throughput(application, item)),
      );
      return documentAnswer(hostsDocument(documents), page.link);
    },
    host: (application, host) =>
      documentAnswer({
        application_host: hostDocument(application, host, throughput(application, host)),
      }),
  };
}
