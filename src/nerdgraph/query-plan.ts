import {
  choosesHost,
  hostChoiceOf,
  hostSelectorOf,
  type SelectedApplication,
} from '../model/selected-application.ts';
import { maxNamedHosts } from './host-partition.ts';
import type { QuerySize } from './query-sizes.ts';

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
  if (selector === undefined) return hostChoiceOf(entry) === false ? [] : listed;
  return namedHostIds ?? listed.filter((name) => choosesHost(selector, name));
}

/** Whether the hosts are asked for by their names, because there are only a few. */
export function isByName(selected: SelectedApplication): boolean {
  return hostSelectorOf(selected) !== undefined && wantedHosts(selected).length <= maxNamedHosts;
}

/** Rows of the hosts of an application, if they are asked for alone. */
export function rowsOf(selected: SelectedApplication): number {
  if (wantedHosts(selected).length === 0) return 0;
  const hosts = isByName(selected)
    ? wantedHosts(selected)
    : (selected.application.hostIds ?? wantedHosts(selected));
  return hosts.length * rowsPerHost(selected);
}

/** One row for each type of transactions, and one for the heartbeat. */
export function rowsPerHost({ entry }: SelectedApplication): number {
  return entry.transactions.length + 1;
}

/**
 * Applications that are asked for in the same queries. The interval is a part of it: applications that
 * are due at different times would share some queries and not others, and no plan could say how many.
 */
export function kindOf(selected: SelectedApplication): string {
  const { transactions, poll } = selected.entry;
  const lengthMs = poll.window.kind === 'range' ? poll.window.lengthMs : 0;
  const { delayMs, intervalMs } = poll;
  return `${lengthMs} ${delayMs} ${intervalMs} ${transactions.join()} ${isByName(selected)}`;
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
