import type { AppEntry } from '../model/config.ts';
import {
  asksForApplication,
  choosesHost,
  hostChoiceOf,
  hostSelectorOf,
  type SelectedApplication,
} from '../model/selected-application.ts';
import {
  amountMetricsOf,
  type BatchColumns,
  type ColumnSet,
  columnsOf,
  valueKeyOf,
} from './column-sets.ts';
import { maxNamedHosts } from './host-partition.ts';
import { fullSize, type QuerySize } from './query-sizes.ts';

/** Finds the application of an item. */
export type SelectedOf<Item> = (item: Item) => SelectedApplication;

/**
 * The application with the hosts that its entry chooses now. A listed host has its name already: unlike
 * the poller, this need not wait for an answer with names.
 */
export function choosingHosts(selected: SelectedApplication): SelectedApplication {
  const selector = hostSelectorOf(selected);
  const { hostIds } = selected.application;
  if (selector === undefined || hostIds === undefined) return selected;
  return { ...selected, namedHostIds: hostIds.filter((name) => choosesHost(selector, name)) };
}

/** Host queries of one batch at most, so that a batch is not all of a large account. */
const hostQueriesPerBatch = 4;

/** The hosts of which something is read, by their names: in this API a name is the id. */
export function wantedHosts(selected: SelectedApplication): readonly string[] {
  const { application, entry, namedHostIds } = selected;
  if (hostChoiceOf(entry) === false) return [];
  const listed = application.hostIds ?? [];
  const selector = hostSelectorOf(selected);
  if (selector === undefined) return listed;
  return namedHostIds ?? listed.filter((name) => choosesHost(selector, name));
}

/** Whether the hosts are asked for by their names, because there are only a few. */
export function isByName(selected: SelectedApplication): boolean {
  return hostSelectorOf(selected) !== undefined && wantedHosts(selected).length <= maxNamedHosts;
}

/** Rows of the hosts of an application, if they are asked for alone: one for each host. */
export function rowsOf(selected: SelectedApplication): number {
  const wanted = wantedHosts(selected);
  if (wanted.length === 0) return 0;
  return (isByName(selected) ? wanted : (selected.application.hostIds ?? wanted)).length;
}

/**
 * Applications that are asked for in the same queries. The interval is a part of it: applications that
 * are due at different times would share some queries and not others, and no plan could say how many.
 */
export function kindOf(selected: SelectedApplication): string {
  return kindWithin(selected, entryKindOf(selected.entry));
}

function kindWithin(selected: SelectedApplication, entryKind: string): string {
  return `${isByName(selected)} ${entryKind}`;
}

function entryKindOf({ poll, series }: AppEntry): string {
  const lengthMs = poll.window.kind === 'range' ? poll.window.lengthMs : 0;
  const read = new Set(series.map((one) => `${one.scope} ${valueKeyOf(one)}`));
  return [lengthMs, poll.delayMs, poll.intervalMs, ...[...read].toSorted()].join('\n');
}

/** As `kindOf`, for many applications of few entries. */
function createKinds(): (selected: SelectedApplication) => string {
  const kinds = new Map<AppEntry, string>();
  return (selected) => {
    const kind = kinds.get(selected.entry) ?? entryKindOf(selected.entry);
    kinds.set(selected.entry, kind);
    return kindWithin(selected, kind);
  };
}

/** Groups of the same kind, each for one batch. */
export function batchesOf<Item>(
  items: readonly Item[],
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): Item[][] {
  const batches: Item[][] = [];
  const unfilled = new Map<string, Filling<Item>>();
  const kindFor = createKinds();
  for (const item of items) {
    const selected = selectedOf(item);
    const kind = kindFor(selected);
    const filling = unfilled.get(kind);
    if (filling !== undefined && hasRoom(filling, selected, size)) {
      addTo(filling, item, selected);
    } else {
      const next = { items: [item], rows: rowsOf(selected) };
      batches.push(next.items);
      unfilled.set(kind, next);
    }
  }
  return batches;
}

interface Filling<Item> {
  readonly items: Item[];
  rows: number;
}

function hasRoom<Item>(
  { items, rows }: Filling<Item>,
  selected: SelectedApplication,
  size: QuerySize,
): boolean {
  return (
    items.length < size.applications && rows + rowsOf(selected) <= hostQueriesPerBatch * size.rows
  );
}

function addTo<Item>(filling: Filling<Item>, item: Item, selected: SelectedApplication): void {
  filling.items.push(item);
  filling.rows += rowsOf(selected);
}

/** Adds items to batches of their kind that have room; the rest is left out. */
export function fillUp<Item>(
  batches: Item[][],
  items: readonly Item[],
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): void {
  const kindFor = createKinds();
  const unfilled = new Map(
    batches.flatMap((batch): [string, Filling<Item>][] => {
      const [first] = batch;
      if (first === undefined) return [];
      const rows = batch.reduce((sum, item) => sum + rowsOf(selectedOf(item)), 0);
      return [[kindFor(selectedOf(first)), { items: batch, rows }]];
    }),
  );
  for (const item of items) {
    const selected = selectedOf(item);
    const filling = unfilled.get(kindFor(selected));
    if (filling !== undefined && hasRoom(filling, selected, size)) addTo(filling, item, selected);
  }
}

/** What a batch reads: its applications are of one kind. */
export function batchColumnsOf<Item>(
  [first]: readonly Item[],
  selectedOf: SelectedOf<Item>,
): BatchColumns {
  return columnsOf(first === undefined ? [] : selectedOf(first).entry.series);
}

/** Applications that are asked for in one query. */
export interface ApplicationQuery<Item> {
  readonly items: readonly Item[];
  readonly columns: ColumnSet;
}

/** The queries for the applications themselves, in a batch. */
export function applicationQueriesOf<Item>(
  batch: readonly Item[],
  { applications: columnSets }: BatchColumns,
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): readonly ApplicationQuery<Item>[] {
  const wanted = batch.filter((item) => asksForApplication(selectedOf(item)));
  return slicesOf(wanted, size.applications).flatMap((items) =>
    columnSets.map((columns) => ({ items, columns })),
  );
}

/** Applications whose metrics are asked for in one query. */
export interface RecordedQuery<Item> {
  readonly items: readonly Item[];
  readonly metrics: readonly string[];
}

/** There is a row for each metric of each application. */
const recordedRows = fullSize.rows;

/** The queries for what some applications of a batch have had at all. */
export function recordedQueriesOf<Item>(
  some: readonly Item[],
  columns: BatchColumns,
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): readonly RecordedQuery<Item>[] {
  const metrics = amountMetricsOf(columns);
  if (metrics.length === 0) return [];
  const wanted = some.filter((item) => {
    const selected = selectedOf(item);
    return asksForApplication(selected) || wantedHosts(selected).length > 0;
  });
  const most = Math.max(1, Math.floor(recordedRows / metrics.length));
  return slicesOf(wanted, Math.min(size.applications, most)).map((items) => ({ items, metrics }));
}

/** The items in order, so many at a time. */
export function slicesOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
