import type { AppEntry, Config } from '../../src/model/config.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { type MetricList, metricLists } from './metric-lists.ts';

/** Which applications an account wants: by their names, or by ids of which some do not exist. */
export type Wants = 'all' | 'even' | 'odd' | 'ids';

/** Which hosts are read: all, none, or some by their names. */
export type HostChoice = 'all' | 'none' | 'self' | 'match';

/** Which of the vendor's APIs an account is read by. */
export type SourceKind = 'rest' | 'nerdgraph';

/** One account as the configuration has it. */
export interface AccountSetup {
  readonly name: string;
  /** Default: REST. */
  readonly source?: SourceKind;
  readonly keyFile: string;
  readonly requestsPerMinute: number;
  readonly concurrency: number;
  readonly wants: Wants;
  readonly label: string;
  readonly hosts: HostChoice;
  /** Whether it is shown beside its hosts. Without any hosts it always is. */
  readonly application: boolean;
  readonly hostNames: boolean;
  readonly intervalMs: number;
  readonly windowMs: number;
  readonly staleAfterMs: number;
  /** What is read. */
  readonly metrics: MetricList;
  /** What is read of applications whose names begin with "odd", by an entry of its own. */
  readonly oddMetrics?: MetricList;
}

export const accountNames = ['one', 'two', 'three', 'four'] as const;
export const keyFiles = ['/keys/a', '/keys/b'] as const;
export const keyValues = [
  'first-key-4711',
  'second-key-815',
  'third-key-2323',
  'fourth-key-999',
] as const;

/** Ids that a configuration may name; the fleet has the first of them. */
const namedIds: readonly string[] = [
  ...Array.from({ length: 5 }, (_, at) => `${101 + at}`),
  ...Array.from({ length: 13 }, (_, at) => `${901 + at}`),
];

export const delayMs = 180_000;
export const discoveryIntervalMs = 60_000;
const timeoutMs = 30_000;

const patterns = { all: /^/u, even: /^even/u, odd: /^odd/u } as const;

export function isWanted({ wants }: AccountSetup, id: string, name: string): boolean {
  return wants === 'ids' ? namedIds.includes(id) : patterns[wants].test(name);
}

/** The entry that selects a wanted application: the first one that does. */
export function selectorOf(setup: AccountSetup, id: string, name: string): string {
  if (setup.wants === 'ids') return `id=${id}`;
  const isApart = setup.oddMetrics !== undefined && setup.wants !== 'even';
  const pattern = isApart && patterns.odd.test(name) ? patterns.odd : patterns[setup.wants];
  return `match=${pattern.source}`;
}

/** What the account reads of an application of this name. */
export function metricsOf({ wants, metrics, oddMetrics }: AccountSetup, name: string): MetricList {
  const isApart = wants !== 'ids' && patterns.odd.test(name);
  return isApart ? (oddMetrics ?? metrics) : metrics;
}

/** The names of the hosts of an application, in turn. */
export const hostNamesInTurn = ['web-1', 'own-pod', 'db-1', 'Web-2', 'web-own-pod'] as const;

const hostPattern = /^[wW]eb-/u;
const choices: Readonly<Record<HostChoice, AppEntry['hosts']>> = {
  all: true,
  none: false,
  // The vendor does not know a host of the first name.
  self: { kind: 'self', names: ['elsewhere', 'own-pod'] },
  match: { kind: 'match', pattern: hostPattern },
};

/** Whether the account reads a host of this name. */
export function isChosen({ hosts }: AccountSetup, hostName: string): boolean {
  if (hosts === 'match') return hostPattern.test(hostName);
  return hosts === 'all' || (hosts === 'self' && hostName === 'own-pod');
}

/** Whether its hosts are chosen by their names. */
export function isByName({ hosts }: AccountSetup): boolean {
  return hosts === 'self' || hosts === 'match';
}

export function isApplicationShown({ hosts, application }: AccountSetup): boolean {
  return application || hosts === 'none';
}

const sources = {
  rest: { kind: 'rest', accountId: undefined },
  nerdgraph: { kind: 'nerdgraph', accountId: 1_234_567 },
} as const;

/** The configuration as it comes out of the file. */
export function configOf(setups: readonly AccountSetup[]): Config {
  return {
    accounts: setups.map((setup) =>
      anAccount({
        name: setup.name,
        source: sources[setup.source ?? 'rest'],
        apiKey: { kind: 'file', path: setup.keyFile },
        requestsPerMinute: setup.requestsPerMinute,
        concurrency: setup.concurrency,
        timeoutMs,
        // Tells the wire whose connections these are.
        proxyUrl: proxyUrlOf(setup.name),
      }),
    ),
    apps: setups.flatMap((setup) => {
      const { name, wants, label, hostNames, intervalMs, windowMs, staleAfterMs } = setup;
      const { metrics, oddMetrics } = setup;
      const shown = { hosts: choices[setup.hosts], application: isApplicationShown(setup) };
      const poll = {
        intervalMs,
        discoveryIntervalMs,
        window: { kind: 'range', lengthMs: windowMs },
        delayMs,
        staleAfterMs,
        hostNames,
      } as const;
      const entryFor = (selector: AppEntry['selector'], list: MetricList): AppEntry => {
        const { metrics: read } = metricLists[list];
        return anEntry({
          account: name,
          selector,
          labels: { label },
          ...shown,
          poll: { ...poll, metrics: read },
        });
      };
      if (wants === 'ids') return namedIds.map((id) => entryFor({ kind: 'id', id }, metrics));
      const entry = entryFor({ kind: 'match', pattern: patterns[wants] }, metrics);
      if (oddMetrics === undefined || wants === 'even') return [entry];
      return [entryFor({ kind: 'match', pattern: patterns.odd }, oddMetrics), entry];
    }),
  };
}

function proxyUrlOf(name: string): string {
  return `http://${name}.invalid`;
}

export function accountOf(proxyUrl: string | undefined): string {
  return proxyUrl === undefined ? '' : new URL(proxyUrl).hostname.replace('.invalid', '');
}

/** A poll that is due and has not ended by then counts as failing, however long it may still wait. */
export function lateAfterMs({ intervalMs }: AccountSetup, stretch: number): number {
  return 2 * stretch * intervalMs;
}

/** How long a poll that something has held up may still take. */
export function settledAfterMs(
  { intervalMs, staleAfterMs }: AccountSetup,
  stretch: number,
): number {
  const patience = stretch > 1 ? 2 : 1;
  return Math.max(patience * stretch * intervalMs, Math.min(120_000, staleAfterMs));
}
