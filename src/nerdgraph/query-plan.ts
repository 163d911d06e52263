import {
  choosesHost,
  hostSelectorOf,
  type SelectedApplication,
} from '../model/selected-application.ts';
import { allHosts, type HostSubset, maxNamedHosts, namedHosts, partsOf } from './host-partition.ts';
import type { QuerySize } from './query-sizes.ts';

/** Applications whose hosts are asked for in one query. */
export interface HostQuery<Item> {
  readonly items: readonly Item[];
  readonly subset: HostSubset;
  /** Rows that the answer is expected to have. */
  readonly rows: number;
}

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

/** The hosts that the entry wants, by their names: in this API a name is the id. */
export function wantedHosts(selected: SelectedApplication): readonly string[] {
  const { application, entry, namedHostIds } = selected;
  const listed = application.hostIds ?? [];
  const selector = hostSelectorOf(selected);
  if (selector === undefined) return entry.hosts === false ? [] : listed;
  return namedHostIds ?? listed.filter((name) => choosesHost(selector, name));
}

/** Whether the hosts are asked for by their names, because there are only a few. */
function isByName(selected: SelectedApplication): boolean {
  return hostSelectorOf(selected) !== undefined && wantedHosts(selected).length <= maxNamedHosts;
}

function rowsOf(selected: SelectedApplication): number {
  const hosts = isByName(selected)
    ? wantedHosts(selected)
    : (selected.application.hostIds ?? wantedHosts(selected));
  return hosts.length * rowsPerHost(selected);
}

/** One row for each type of transactions, and one for the heartbeat. */
function rowsPerHost({ entry }: SelectedApplication): number {
  return entry.transactions.length + 1;
}

/** Applications that can be asked for in the same queries. */
export function kindOf(selected: SelectedApplication): string {
  const { transactions, poll } = selected.entry;
  const lengthMs = poll.window.kind === 'range' ? poll.window.lengthMs : 0;
  return `${lengthMs} ${poll.delayMs} ${transactions.join()} ${isByName(selected)}`;
}

/** Groups of the same kind, each for one batch. */
export function batchesOf<Item>(
  items: readonly Item[],
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): Item[][] {
  const batches: Item[][] = [];
  const unfilled = new Map<string, Filling<Item>>();
  for (const item of items) {
    const selected = selectedOf(item);
    const kind = kindOf(selected);
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
  const unfilled = new Map(
    batches.flatMap((batch): [string, Filling<Item>][] => {
      const [first] = batch;
      if (first === undefined) return [];
      const rows = batch.reduce((sum, item) => sum + rowsOf(selectedOf(item)), 0);
      return [[kindOf(selectedOf(first)), { items: batch, rows }]];
    }),
  );
  for (const item of items) {
    const selected = selectedOf(item);
    const filling = unfilled.get(kindOf(selected));
    if (filling !== undefined && hasRoom(filling, selected, size)) addTo(filling, item, selected);
  }
}

/** The queries for the applications themselves, in a batch. */
export function applicationQueriesOf<Item>(
  batch: readonly Item[],
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): readonly (readonly Item[])[] {
  return slicesOf(
    batch.filter((item) => selectedOf(item).entry.application),
    size.applications,
  );
}

/** The items in order, so many at a time. */
export function slicesOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** The queries for the hosts, in a batch. An application with very many has several of its own. */
export function hostQueriesOf<Item>(
  batch: readonly Item[],
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): readonly HostQuery<Item>[] {
  const queries: HostQuery<Item>[] = [];
  let gathered: Item[] = [];
  let rows = 0;
  let names = new Set<string>();
  const flush = (): void => {
    if (gathered.length > 0) {
      const subset = names.size > 0 ? namedHosts([...names]) : allHosts;
      queries.push({ items: gathered, subset, rows });
    }
    gathered = [];
    rows = 0;
    names = new Set();
  };
  for (const item of batch) {
    const selected = selectedOf(item);
    const wanted = wantedHosts(selected);
    if (wanted.length === 0) continue;
    const own = rowsOf(selected);
    if (own > size.rows && !isByName(selected)) {
      queries.push(...dividedQueries(item, selected, size));
      continue;
    }
    const together = isByName(selected) ? new Set([...names, ...wanted]) : names;
    const isFull =
      rows + own > size.rows ||
      gathered.length >= size.applications ||
      together.size > maxNamedHosts;
    if (isFull) flush();
    gathered.push(item);
    rows += own;
    if (isByName(selected)) names = new Set([...names, ...wanted]);
  }
  flush();
  return queries;
}

function dividedQueries<Item>(
  item: Item,
  selected: SelectedApplication,
  size: QuerySize,
): readonly HostQuery<Item>[] {
  const { hostIds = [] } = selected.application;
  const perHost = rowsPerHost(selected);
  const most = Math.max(1, Math.floor(size.rows / perHost));
  return partsOf(hostIds, most).map((subset) => ({
    items: [item],
    subset,
    rows: perHost * hostIds.filter((name) => subset.has(name)).length,
  }));
}
