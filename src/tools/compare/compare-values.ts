import type { ApiError } from '../../model/api-error.ts';
import type { Application } from '../../model/application.ts';
import type { AppEntry } from '../../model/config.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../../model/poll-outcome.ts';
import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import type { Unit } from '../../model/vendor-value.ts';

/** The same of each API of New Relic. */
export interface OfBoth<Value> {
  readonly rest: Value;
  readonly nerdgraph: Value;
}

/** A value of an application or of one of its hosts, as each API gives it. */
export interface ComparedValue {
  readonly account: string;
  readonly application: Application;
  /** The name of the host; `undefined` for the application itself. */
  readonly host: string | undefined;
  /** How many ids the host has in REST; their values are added. */
  readonly hostIds: number;
  readonly series: PolledSeries;
  /** `undefined` if the API has no value. */
  readonly rest: number | undefined;
  readonly nerdgraph: number | undefined;
  readonly verdict: Verdict;
  /** Why it was not read. */
  readonly reason: string | undefined;
}

/** An application that both APIs were asked about, for the same window. */
export interface PolledTwice {
  readonly account: string;
  readonly application: Application;
  readonly entry: AppEntry;
  readonly rest: PollOutcome;
  readonly nerdgraph: PollOutcome;
}

/** Stands for the hosts of an application if it is not known which there are. */
export const unknownHosts = '*';

/**
 * Every value that at least one of the APIs has: first those of the application, then those of its
 * hosts by name. Hosts are the same if they have the same name, because only REST has ids.
 */
export function comparedValues(polled: PolledTwice): readonly ComparedValue[] {
  const { entry } = polled;
  return [
    ...(entry.application ? applicationValues(polled) : []),
    ...(entry.hosts === false ? [] : hostValues(polled)),
  ];
}

/** What one API has of a value. */
interface Part {
  readonly values: readonly number[];
  /** Why it was not read. */
  readonly failure: string | undefined;
}

function applicationValues(polled: PolledTwice): readonly ComparedValue[] {
  return polled.entry.series.flatMap((series, index) => {
    if (!isReadOf('applications', series)) return [];
    const subject = { host: undefined, hostIds: 0, series };
    const partOf = (outcome: PollOutcome): Part =>
      outcome.failed.has(applicationScope)
        ? failedPart(outcome.error)
        : readPart([outcome.reading?.application[index]]);
    return valueOf(polled, subject, partOf(polled.rest), partOf(polled.nerdgraph));
  });
}

function hostValues(polled: PolledTwice): readonly ComparedValue[] {
  const { rest, nerdgraph, entry } = polled;
  const ofHosts = [...entry.series.entries()].filter(([, series]) => isReadOf('hosts', series));
  const restFailure = hostsFailure(rest);
  const nerdgraphFailure = hostsFailure(nerdgraph);
  if (restFailure !== undefined || nerdgraphFailure !== undefined) {
    return ofHosts.flatMap(([, series]) => {
      const subject = { host: unknownHosts, hostIds: 0, series };
      return valueOf(
        polled,
        subject,
        { values: [], failure: restFailure },
        { values: [], failure: nerdgraphFailure },
      );
    });
  }
  const restIds = hostIdsByName(rest);
  const nerdgraphIds = hostIdsByName(nerdgraph);
  const names = [...new Set([...restIds.keys(), ...nerdgraphIds.keys()])].toSorted();
  return names.flatMap((host) => {
    const inRest = restIds.get(host) ?? [];
    const inNerdgraph = nerdgraphIds.get(host) ?? [];
    return ofHosts.flatMap(([index, series]) =>
      inRest.length > 1 && !isAdditive(series)
        ? []
        : valueOf(
            polled,
            { host, hostIds: inRest.length, series },
            hostPart(rest, inRest, index),
            hostPart(nerdgraph, inNerdgraph, index),
          ),
    );
  });
}

/** Averages of two hosts with one name cannot be put together without the numbers of their calls. */
function isAdditive({ gauge: { unit } }: PolledSeries): boolean {
  return unit === 'per_minute' || unit === 'per_second' || unit === 'count';
}

function hostPart(outcome: PollOutcome, ids: readonly string[], index: number): Part {
  if (ids.some((id) => outcome.failed.has(id))) return failedPart(outcome.error);
  return readPart(ids.map((id) => outcome.reading?.hosts.get(id)?.[index]));
}

function readPart(values: readonly (number | undefined)[]): Part {
  return { values: values.filter((value) => value !== undefined), failure: undefined };
}

function failedPart(error: ApiError | undefined): Part {
  return { values: [], failure: messageOf(error) };
}

function messageOf(error: ApiError | undefined): string {
  return error?.message ?? 'no answer';
}

/** Why hosts cannot be compared by their names; `undefined` if they can. */
function hostsFailure({ failed, reading, error, hosts }: PollOutcome): string | undefined {
  if (failed.has(hostsScope)) return messageOf(error);
  const ids = [...(reading?.hosts.keys() ?? [])];
  const areNamed = ids.length === 0 || ids.some((id) => hosts?.has(id) === true);
  return areNamed ? undefined : 'the names of its hosts are not known';
}

interface Subject {
  readonly host: string | undefined;
  readonly hostIds: number;
  readonly series: PolledSeries;
}

/** Empty if neither API has the value. */
function valueOf(
  { account, application, entry }: PolledTwice,
  { host, hostIds, series }: Subject,
  rest: Part,
  nerdgraph: Part,
): readonly ComparedValue[] {
  const reason = reasonOf(rest, nerdgraph);
  const { raw } = entry.poll;
  const verdict =
    reason === undefined
      ? verdictOf({ rest: rest.values, nerdgraph: nerdgraph.values, raw, unit: series.gauge.unit })
      : 'not read';
  if (verdict === undefined) return [];
  return [
    {
      account,
      application,
      host,
      hostIds,
      series,
      rest: sumOf(rest.values),
      nerdgraph: sumOf(nerdgraph.values),
      verdict,
      reason,
    },
  ];
}

function reasonOf(rest: Part, nerdgraph: Part): string | undefined {
  if (rest.failure !== undefined) return `REST: ${rest.failure}`;
  return nerdgraph.failure === undefined ? undefined : `NerdGraph: ${nerdgraph.failure}`;
}

/** How many hosts, by their names, each API has of an application. */
export interface NamedHosts extends OfBoth<number> {
  readonly id: string;
  readonly name: string;
}

export function namedHostsOf(
  { id, name }: Application,
  { rest, nerdgraph }: OfBoth<PollOutcome>,
): NamedHosts {
  return { id, name, rest: hostIdsByName(rest).size, nerdgraph: hostIdsByName(nerdgraph).size };
}

/**
 * Whether NerdGraph has clearly fewer. REST lists a host for about an hour after its end, so that a few
 * more say nothing.
 */
export function isShort({ rest, nerdgraph }: OfBoth<number>): boolean {
  return nerdgraph < rest / 2;
}

/** The hosts that were asked for or answered. One without a name goes by its id. */
function hostIdsByName({
  reading,
  failed,
  hosts,
}: PollOutcome): ReadonlyMap<string, readonly string[]> {
  const ids = new Set([...(reading?.hosts.keys() ?? []), ...failed]);
  ids.delete(applicationScope);
  ids.delete(hostsScope);
  const byName = new Map<string, string[]>();
  for (const id of ids) {
    const name = hosts?.get(id) ?? id;
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [id]);
    else known.push(id);
  }
  return byName;
}

/** What the two APIs of New Relic say of one value. */
export const verdicts = [
  /** The same, as far as the rounding of REST shows. */
  'equal',
  /** 0 in one and absent in the other: nothing happened. */
  'idle',
  'differs',
  'only REST',
  'only NerdGraph',
  /** A call failed. */
  'not read',
] as const;
export type Verdict = (typeof verdicts)[number];

/** The verdicts that speak against a switch. */
export const disagreements = ['differs', 'only REST', 'only NerdGraph'] as const;
export type Disagreement = (typeof disagreements)[number];

/** What both APIs have of one value. In REST several hosts may have the same name. */
export interface BothValues {
  /** The numbers to add; empty if the API has no value. */
  readonly rest: readonly number[];
  readonly nerdgraph: readonly number[];
  /** Whether REST was asked not to round. */
  readonly raw: boolean;
  readonly unit: Unit;
}

/** `undefined` if neither API has a value. */
export function verdictOf({ rest, nerdgraph, raw, unit }: BothValues): Verdict | undefined {
  const restSum = sumOf(rest);
  const nerdgraphSum = sumOf(nerdgraph);
  if (restSum === undefined && nerdgraphSum === undefined) return undefined;
  if (nerdgraphSum === undefined) return restSum === 0 ? 'idle' : 'only REST';
  if (restSum === undefined) return nerdgraphSum === 0 ? 'idle' : 'only NerdGraph';
  const rounding = raw ? 0 : rest.reduce((sum, value) => sum + roundingOf(value, unit), 0);
  const tolerance = rounding + floatSlack * Math.max(1, restSum);
  return Math.abs(nerdgraphSum - restSum) <= tolerance ? 'equal' : 'differs';
}

/** Much less than one call in a day, and much more than the error of adding. */
const floatSlack = 1e-6;

export function sumOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((sum, value) => sum + value, 0);
}

/** REST rounds to this many digits. */
const significantDigits = 3;

/** Of a ratio REST may show two decimals only. */
const roundedRatio = 0.005;
/** The most that three digits can be off. They are digits of MiB, so bytes do not show which. */
const roundedShare = 0.005;

/** How far a rounded value may be from the true one: half a unit of its last significant digit. */
function roundingOf(value: number, unit: Unit): number {
  if (unit === 'bytes') return roundedShare * value;
  const exponent = Number(value.toExponential().split('e')[1]);
  const ofDigits = value === 0 ? 0 : 0.5 * 10 ** (exponent - significantDigits + 1);
  return unit === 'ratio' ? Math.max(roundedRatio, ofDigits) : ofDigits;
}

/**
 * How much the value changes with the switch, as a share of what REST says: 0.1 for 110 instead of
 * 100. Where there was nothing before, it is 1.
 */
export function changeOf(rest: number | undefined, nerdgraph: number | undefined): number {
  const before = rest ?? 0;
  return before === 0 ? 1 : Math.abs((nerdgraph ?? 0) - before) / before;
}
