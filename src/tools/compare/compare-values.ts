import type { AppEntry } from '../../model/config.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../../model/poll-outcome.ts';
import { isReadOf, type PolledSeries, type Values } from '../../model/polled-series.ts';
import type { SelectedApplication } from '../../model/selected-application.ts';
import { countText, printable } from '../../model/shown-text.ts';
import type { AppReading } from '../../model/snapshot.ts';
import type { Unit } from '../../model/vendor-value.ts';
import {
  apiNames,
  bothApis,
  type OfBoth,
  ofBoth,
  totalOf,
  type Verdict,
  verdictOf,
} from '../survey/both-apis.ts';
import { aligned } from '../survey/plain-text.ts';

/** An application that both APIs were asked about, for the same window. */
export interface PolledTwice {
  readonly selected: SelectedApplication;
  readonly outcomes: OfBoth<PollOutcome>;
}

/** A value of an application or of one of its hosts; `undefined` of an API that does not have it. */
export interface ComparedValue extends OfBoth<number | undefined> {
  readonly account: string;
  /** The name of the application. */
  readonly application: string;
  /** The name of the host, `itself` or `unknownHosts`. */
  readonly host: string;
  /** How many ids the host has in REST; their values are added. */
  readonly hostIds: number;
  readonly series: PolledSeries;
  readonly verdict: Verdict | 'not read';
  /** Why it was not read. */
  readonly reason: string | undefined;
}

/** Stands for the application in place of a host. */
export const itself = '';
/** Stands for the hosts of an application if it is not known which there are; no host has that name. */
const unknownHosts = '\n';

/** Averages of two hosts with one name cannot be put together without the numbers of their calls. */
const additive: ReadonlySet<Unit> = new Set<Unit>(['per_minute', 'per_second', 'count']);

/**
 * Every value that at least one of the APIs has: first those of the application, then those of its
 * hosts by name. Hosts are the same if they have the same name, because only REST has ids.
 */
export function comparedValues(account: string, polled: PolledTwice): readonly ComparedValue[] {
  const { application, entry } = polled.selected;
  const byHost = ofBoth((api) => readByHost(polled.outcomes[api]));
  const names = [...new Set(bothApis.flatMap((api) => [...byHost[api].keys()]))].toSorted();
  const known = names.includes(unknownHosts) ? [itself, unknownHosts] : names;
  const where = { account, application: application.name };
  return known
    .filter((host) => (host === itself ? entry.application : entry.hosts !== false))
    .flatMap((host) => {
      const read = ofBoth((api) => byHost[api].get(host) ?? []);
      return valuesOf(host, read, entry).map((value) => ({ ...where, ...value }));
    });
}

/** The values of each id that has a name; or why they were not read. */
type Read = readonly (Values | string)[];

function valuesOf(host: string, read: OfBoth<Read>, { series: all, poll: { raw } }: AppEntry) {
  const hostIds = read.rest.length;
  const reason = bothApis.flatMap((api) => reasonIn(read[api], apiNames[api]))[0];
  return all.flatMap((series, index) => {
    const { unit } = series.gauge;
    const isAsked = isReadOf(host === itself ? 'applications' : 'hosts', series);
    if (!isAsked || (hostIds > 1 && !additive.has(unit))) return [];
    const numbers = ofBoth((api) =>
      read[api].flatMap((one) => (typeof one === 'string' ? [] : (one[index] ?? []))),
    );
    const verdict = reason === undefined ? verdictOf({ ...numbers, raw, unit }) : 'not read';
    if (verdict === undefined) return [];
    const sums = ofBoth((api) => totalOf(numbers[api]));
    return [{ host, hostIds, series, ...sums, verdict, reason } as const];
  });
}

function reasonIn(read: Read, api: string): readonly string[] {
  return read.flatMap((one) => (typeof one === 'string' ? [`${api}: ${one}`] : []));
}

const emptyReading: Pick<AppReading, 'application' | 'hosts'> = {
  application: [],
  hosts: new Map(),
};

/** The application and the hosts that were asked for or answered. A host without a name goes by its id. */
function readByHost(outcome: PollOutcome): ReadonlyMap<string, Read> {
  const { failed, error, hosts: named = new Map<string, string>() } = outcome;
  const { application, hosts } = outcome.reading ?? emptyReading;
  const why = error?.message ?? 'no answer';
  const lost = [...failed].filter((id) => id !== applicationScope && !hosts.has(id));
  const read: readonly (readonly [name: string, Values | string])[] = [
    [itself, failed.has(applicationScope) ? why : application],
    // With NerdGraph a host may have the name of a scope.
    ...Array.from(hosts, ([id, values]) => {
      return [named.get(id) ?? id, failed.has(id) ? why : values] as const;
    }),
    ...lost.map((id) => [id === hostsScope ? unknownHosts : (named.get(id) ?? id), why] as const),
  ];
  const byHost = new Map<string, Read>();
  for (const [name, values] of read) byHost.set(name, [...(byHost.get(name) ?? []), values]);
  const isNamed = hosts.size === 0 || [...hosts.keys()].some((id) => named.has(id));
  if (!isNamed) byHost.set(unknownHosts, ['the names of its hosts are not known']);
  return byHost;
}

/** How many hosts there are by their names. */
export function hostCountOf(outcome: PollOutcome): number {
  const names = [...readByHost(outcome).keys()];
  return names.filter((name) => name !== itself && name !== unknownHosts).length;
}

/** The verdicts that speak for a switch. */
export const agreeing: readonly string[] = ['equal', 'idle'];

const columnTitles = 'account application host value REST NerdGraph difference verdict'.split(' ');
const alignments = ['left', 'left', 'left', 'left', 'right', 'right', 'right', 'left'] as const;
/** Enough to see that values are compared at all, and how. */
const agreeingShown = 10;

/**
 * A table of the values, first those that do not agree.
 *
 * @param all whether to show every value that agrees
 */
export function valueLines(values: readonly ComparedValue[], all: boolean): readonly string[] {
  if (values.length === 0) return [];
  const alike = values.filter(({ verdict }) => agreeing.includes(verdict));
  const others = values.filter(({ verdict }) => !agreeing.includes(verdict));
  const shown = all ? alike : alike.slice(0, agreeingShown);
  const rows = [...others, ...shown].map(cellsOf);
  const hidden = alike.length - shown.length;
  const more = hidden > 0 ? [`and ${countText(hidden)} more that agree; --all shows them`] : [];
  return [...aligned([columnTitles, ...rows], alignments), ...more, ''];
}

const noValue = '-';

function cellsOf(value: ComparedValue): readonly string[] {
  const { account, application, verdict, reason } = value;
  // What follows is a remedy, which need not stand in every row.
  const why = reason === undefined ? '' : `: ${printable(reason.replace(/\. .*$/su, ''))}`;
  return [
    account,
    printable(application),
    hostText(value),
    gaugeText(value),
    ...bothApis.map((api) => comparedText(value[api])),
    differenceText(value),
    `${verdict}${why}`,
  ];
}

function hostText({ host, hostIds }: ComparedValue): string {
  if (host === itself) return noValue;
  if (host === unknownHosts) return 'all hosts';
  return hostIds > 1 ? `${printable(host)} (${hostIds} ids)` : printable(host);
}

function gaugeText({ series: { gauge, transactionType, labels } }: ComparedValue): string {
  const type = transactionType === undefined ? [] : [transactionType];
  const own = Object.entries(labels).map(([name, value]) => `${name}=${printable(value)}`);
  return [gauge.name.replace(/^newrelic_application_/u, ''), ...type, ...own].join(' ');
}

/** With twice as many digits as REST has. */
function comparedText(value: number | undefined): string {
  return value === undefined ? noValue : `${Number(value.toPrecision(6))}`;
}

/** With its share of what REST says: two significant digits, but whole above 10 %. */
function differenceText({ rest = 0, nerdgraph = 0, verdict }: ComparedValue): string {
  if (verdict !== 'differs') return noValue;
  const difference = Math.abs(nerdgraph - rest);
  const percent = (difference / rest) * 100;
  const rounded = percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2));
  const share = rest === 0 ? '' : ` (${rounded} %)`;
  return `${nerdgraph < rest ? '-' : '+'}${comparedText(difference)}${share}`;
}
