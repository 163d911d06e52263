import type { AppEntry } from '../../model/config.ts';
import {
  asksForApplication,
  hostChoiceOf,
  hostSelectorOf,
  type SelectedApplication,
} from '../../model/selected-application.ts';
import type { ApplicationQuestion, Question } from '../../model/source.ts';
import {
  type ColumnSet,
  type ColumnSubject,
  columnsOf,
  maxNrqlCharacters,
  valueKeyOf,
} from './column-sets.ts';
import { applicationFacets, type Facets, hostCondition, hostFacets, metricsNrql } from './nrql.ts';

/**
 * What one query asks for at most. The rows are half of New Relic's maximum of 5000: a rollout may replace
 * every host at once, and the event loop is busy with such an answer for a few milliseconds only.
 */
const fullSize = { applications: 200, rows: 2500 };

/** How the queries about an application, or those about its hosts, are divided because one of them has failed. */
export interface Division {
  /** Applications in one query at most; below 1, the share of the hosts of one. */
  readonly together: number;
  /**
   * What has failed before is asked `again` in its size, or `later`: not in this poll, if it would take too
   * many queries. Then it is `tried` with others. All this is asked apart from the rest.
   */
  readonly when: 'usual' | 'again' | 'later' | 'tried';
}

export const undivided: Division = { together: fullSize.applications, when: 'usual' };

type PlannedSubject = Pick<ApplicationQuestion, 'selected'>;

/** How these applications are divided in one poll, if each piece of them takes so many queries. */
export type DivisionsOf = (
  subject: ColumnSubject,
  applicationIds: readonly string[],
  queries: number,
) => (applicationId: string) => Division;

/** One query about a group. */
export interface PlannedQuery extends ColumnSet, HostSubset {
  readonly subject: ColumnSubject;
  readonly operation: 'application_metrics' | 'host_metrics';
  readonly facets: Facets;
  readonly applicationIds: readonly string[];
  /** In how many queries the hosts of its only application are asked for; 1 if there are more applications. */
  readonly parts: number;
  /** Whether one of them has hosts that could be asked for in parts. */
  readonly mayHaveParts: boolean;
  readonly when: Division['when'];
}

/** Host queries of one group at most, so that a group is not all of a large account. */
const hostQueriesPerGroup = 4;
/** Hosts of an application if New Relic does not count them. */
const assumedHosts = 20;

/** Whether anything is read of the hosts. */
export function asksForHosts({ entry }: SelectedApplication): boolean {
  return hostChoiceOf(entry) !== false;
}

/** Rows that the answer about the hosts of an application will probably have. */
export function rowsOf(selected: SelectedApplication): number {
  if (!asksForHosts(selected)) return 0;
  if (hostSelectorOf(selected)?.kind === 'self') return 1;
  const { hostIds, hostCount } = selected.application;
  return Math.max(1, hostIds?.length ?? hostCount ?? assumedHosts);
}

/**
 * Applications that are asked for in the same queries. The interval is a part of it: applications that
 * are due at different times would share some queries and not others, and no plan could say how many.
 */
export function questionKind({ poll, series, hosts }: AppEntry): string {
  const lengthMs = poll.window.kind === 'range' ? poll.window.lengthMs : 0;
  const isSelf = typeof hosts === 'object' && hosts.kind === 'self';
  const read = new Set(series.map((one) => `${one.scope} ${valueKeyOf(one)}`));
  return [isSelf, lengthMs, poll.delayMs, poll.intervalMs, ...[...read].toSorted()].join('\n');
}

/**
 * Applications of the same kind, each group for one poll: all that are due, and of those that will be only as
 * many as fill up the groups that are needed anyway. A query is a group of its own.
 *
 * @param apart applications that come together with each other only
 */
export function groupsOf<Item extends Question>(
  due: readonly Item[],
  early: readonly Item[] = [],
  apart: ReadonlySet<string> = new Set(),
): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  const open = new Map<string, { readonly items: Item[]; rows: number }>();
  // Many applications have few entries.
  const kinds = new Map<AppEntry, string>();
  const add = (item: Item, mayBegin: boolean): void => {
    if (item.kind === 'query') {
      if (mayBegin) groups.push([item]);
      return;
    }
    const { entry, application } = item.selected;
    const entryKind = kinds.get(entry) ?? questionKind(entry);
    kinds.set(entry, entryKind);
    const kind = `${apart.has(application.id)} ${entryKind}`;
    const rows = rowsOf(item.selected);
    const group = open.get(kind);
    const hasRoom =
      group !== undefined &&
      group.items.length < fullSize.applications &&
      group.rows + rows <= hostQueriesPerGroup * fullSize.rows;
    if (hasRoom) {
      group.items.push(item);
      group.rows += rows;
    } else if (mayBegin) {
      const items = [item];
      groups.push(items);
      open.set(kind, { items, rows });
    }
  };
  for (const item of due) add(item, true);
  for (const item of early) add(item, false);
  return groups;
}

/** The queries about a group: its applications are of one kind. */
export function plannedQueries(
  asked: readonly PlannedSubject[],
  divisionsOf: DivisionsOf,
): readonly PlannedQuery[] {
  const all = asked.map(({ selected }) => selected);
  return [
    ...queriesAbout('applications', all.filter(asksForApplication), divisionsOf),
    ...queriesAbout('hosts', all.filter(asksForHosts), divisionsOf),
  ];
}

function queriesAbout(
  subject: ColumnSubject,
  asked: readonly SelectedApplication[],
  divisionsOf: DivisionsOf,
): readonly PlannedQuery[] {
  const [first] = asked;
  if (first === undefined) return [];
  const sets = columnsOf(first.entry.series, subject);
  const isOfHosts = subject === 'hosts';
  const facets = isOfHosts ? hostFacets : applicationFacets;
  const operation = isOfHosts ? 'host_metrics' : 'application_metrics';
  const subset = isOfHosts ? subsetOf(first) : allHosts;
  const room = Math.min(...sets.map((set) => roomIn(facets, set, subset)));
  const askedIds = asked.map(({ application }) => application.id);
  const divisionOf = divisionsOf(subject, askedIds, sets.length);
  const counted = asked.map((selected) => {
    const { id, hostIds, hostCount } = selected.application;
    const division = divisionOf(id);
    const rows = isOfHosts ? rowsOf(selected) : 1;
    // New Relic counts no hosts of an application that has fallen silent.
    const isOne = !isOfHosts || subset !== allHosts || (hostIds?.length ?? hostCount) === 1;
    const parts = isOne
      ? 1
      : Math.max(Math.round(1 / division.together), Math.ceil(rows / fullSize.rows));
    return { ...division, id, hostIds, rows, parts, mayHaveParts: !isOne };
  });
  const whole = counted.filter(({ parts }) => parts === 1);
  // An application with very many hosts has queries of its own.
  const large = counted.filter(({ parts }) => parts > 1);
  const groups = [
    ...packed(whole, room).map(({ ids, mayHaveParts, when }) => {
      return { applicationIds: ids, ...subset, parts: 1, mayHaveParts, when };
    }),
    ...large.flatMap(({ id, hostIds = [], parts, mayHaveParts, when }) => {
      const subsets = halvesOf(hostIds, parts);
      const common = { applicationIds: [id], parts: subsets.length, mayHaveParts, when };
      return subsets.map((one) => ({ ...one, ...common }));
    }),
  ];
  return groups.flatMap((group) =>
    sets.map((set) => ({ subject, operation, facets, ...set, ...group })),
  );
}

/** Only the host of this process is asked for by its name: other names could be any number. */
function subsetOf(selected: SelectedApplication): HostSubset {
  const selector = hostSelectorOf(selected);
  if (selector?.kind !== 'self') return allHosts;
  const names = new Set(selector.names.map((name) => name.toLowerCase()));
  return {
    condition: hostCondition(selector.names),
    asksFor: (name) => names.has(name.toLowerCase()),
  };
}

/** The characters that are left for ids. */
function roomIn(facets: Facets, { columns }: ColumnSet, { condition }: HostSubset): number {
  // Its ends have as many digits as those of any window until the year 2286.
  const window = { fromMs: 1_000_000_000_000, toMs: 1_000_000_000_000 };
  const question = { applicationIds: [], window, facets, columns, condition };
  return maxNrqlCharacters - metricsNrql(question).length;
}

interface Counted extends Pick<Division, 'together' | 'when'> {
  readonly id: string;
  readonly rows: number;
  readonly mayHaveParts: boolean;
}

/** Applications that come together in one query. */
interface Packed extends Pick<Division, 'when'> {
  readonly ids: string[];
  rows: number;
  characters: number;
  mayHaveParts: boolean;
}

/** The ids of as many applications in a query as fit. Those that are divided alike come together. */
function packed(counted: readonly Counted[], room: number): readonly Packed[] {
  const groups: Packed[] = [];
  const open = new Map<string, Packed>();
  for (const { id, rows, together, when, mayHaveParts } of counted) {
    const characters = id.length + 1;
    const key = `${when} ${together}`;
    const group = open.get(key);
    const hasSpace =
      group !== undefined &&
      group.ids.length < together &&
      group.rows + rows <= fullSize.rows &&
      group.characters + characters <= room;
    if (hasSpace) {
      group.ids.push(id);
      group.rows += rows;
      group.characters += characters;
      group.mayHaveParts ||= mayHaveParts;
    } else {
      const next = { ids: [id], when, rows, characters, mayHaveParts };
      groups.push(next);
      open.set(key, next);
    }
  }
  return groups;
}

/** Some of an application's hosts: a condition of NRQL, and the same condition for known names. */
export interface HostSubset {
  /** `undefined` for all hosts. */
  readonly condition: string | undefined;
  readonly asksFor: (name: string) => boolean;
}

export const allHosts: HostSubset = { condition: undefined, asksFor: () => true };

/**
 * Each class is about half of the common characters. Rows of a FACET have no pages, so hosts can only be
 * divided by a condition; names of pods end in random characters, other names in digits.
 */
const classes = ['02468acegikmoqsuwyACEGIKMOQSUWY', '014589abefijmnqruvyzABEFIJMNQRUVYZ'];
/** Each class is tried at the last four characters. */
const columnPlaces: readonly number[] = [0, 1, 2, 3];
/** The hosts of a domain all end alike, but differ before the first dot; addresses differ at the end. */
const patternsAt: readonly ((characters: string, place: number) => string)[] = [
  (characters, place) => `[^.]*[${characters}]${'[^.]'.repeat(place)}([.].*)?`,
  (characters, place) => `.*[${characters}]${'.'.repeat(place)}`,
];
/** The ways to divide hosts, in the order in which they are tried: soon both, for names not yet known. */
const patterns: readonly string[] = [columnPlaces.slice(0, 2), columnPlaces.slice(2)].flatMap(
  (some) =>
    patternsAt.flatMap((patternAt) =>
      some.flatMap((place) => classes.map((characters) => patternAt(characters, place))),
    ),
);

type Halves = readonly [HostSubset, HostSubset];

function halvesBy(pattern: string, part: HostSubset): Halves {
  const regExp = new RegExp(`^(?:${pattern})$`, 'u');
  const narrowed = (further: string, isIn: (name: string) => boolean): HostSubset => ({
    condition: part.condition === undefined ? further : `${part.condition} AND ${further}`,
    asksFor: (name) => part.asksFor(name) && isIn(name),
  });
  return [
    narrowed(`host RLIKE r'${pattern}'`, (name) => regExp.test(name)),
    narrowed(`host NOT RLIKE r'${pattern}'`, (name) => !regExp.test(name)),
  ];
}

/**
 * Parts of some hosts (default: all): about so many, with as many of these names each, as far as they can be
 * divided. Patterns before `depth`, and those that do not divide the names, are left out; without names any divides.
 */
export function halvesOf(
  names: readonly string[],
  count: number,
  hosts: HostSubset = allHosts,
  depth = 0,
): readonly HostSubset[] {
  const pattern = count > 1 ? patterns[depth] : undefined;
  if (pattern === undefined) return [hosts];
  const halves = halvesBy(pattern, hosts).map((half) => {
    const own = names.filter((name) => half.asksFor(name));
    return { half, own, share: names.length === 0 ? 0.5 : own.length / names.length };
  });
  if (halves.some(({ share }) => share === 0)) return halvesOf(names, count, hosts, depth + 1);
  return halves.flatMap(({ half, own, share }) => halvesOf(own, count * share, half, depth + 1));
}
