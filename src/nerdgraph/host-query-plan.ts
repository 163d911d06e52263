import type { SelectedApplication } from '../model/selected-application.ts';
import type { BatchColumns, ColumnSet } from './column-sets.ts';
import { allHosts, type HostSubset, maxNamedHosts, namedHosts, partsOf } from './host-partition.ts';
import { isByName, rowsOf, type SelectedOf, slicesOf, wantedHosts } from './query-plan.ts';
import type { QuerySize } from './query-sizes.ts';

/** Applications whose hosts are asked for in one query. */
export interface HostQuery<Item> {
  readonly items: readonly Item[];
  readonly subset: HostSubset;
  readonly columns: ColumnSet;
}

/** Hosts of these applications. */
type HostGroup<Item> = Omit<HostQuery<Item>, 'columns'>;

/** The names of an application's hosts that a query will probably answer for. */
export function namesIn(subset: HostSubset, selected: SelectedApplication): readonly string[] {
  return (selected.application.hostIds ?? wantedHosts(selected)).filter(subset.has);
}

/**
 * The queries for the hosts, in a batch. An application with very many has several of its own. Either
 * all applications of a batch have their hosts asked for by name, or none: they are of one kind.
 */
export function hostQueriesOf<Item>(
  batch: readonly Item[],
  { hosts: columnSets }: BatchColumns,
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): readonly HostQuery<Item>[] {
  return hostGroupsOf(batch, selectedOf, size).flatMap((group) =>
    columnSets.map((columns) => ({ ...group, columns })),
  );
}

function hostGroupsOf<Item>(
  batch: readonly Item[],
  selectedOf: SelectedOf<Item>,
  size: QuerySize,
): readonly HostGroup<Item>[] {
  const groups: HostGroup<Item>[] = [];
  let open = new OpenGroup<Item>();
  const close = (): void => {
    if (open.items.length > 0) groups.push(open.group());
    open = new OpenGroup();
  };
  for (const item of batch) {
    const selected = selectedOf(item);
    if (wantedHosts(selected).length === 0) continue;
    if (rowsOf(selected) > size.rows) {
      groups.push(...dividedGroups(item, selected, size));
      continue;
    }
    if (!open.hasRoom(selected, size)) close();
    open.add(item, selected);
  }
  close();
  return groups;
}

/** A group that is being filled. */
class OpenGroup<Item> {
  readonly items: Item[] = [];
  readonly #names = new Set<string>();
  /** The hosts that each application has, if some are asked for by name. */
  readonly #listed: ReadonlySet<string>[] = [];
  #rows = 0;

  hasRoom(selected: SelectedApplication, { applications, rows }: QuerySize): boolean {
    if (this.items.length >= applications) return false;
    if (!isByName(selected)) return this.#rows + rowsOf(selected) <= rows;
    const added = this.#newNames(selected);
    return (
      this.#names.size + added.length <= maxNamedHosts &&
      this.#rows + this.#rowsOfNames(added, listedOf(selected)) <= rows
    );
  }

  add(item: Item, selected: SelectedApplication): void {
    this.items.push(item);
    if (!isByName(selected)) {
      this.#rows += rowsOf(selected);
      return;
    }
    const added = this.#newNames(selected);
    const listed = listedOf(selected);
    this.#rows += this.#rowsOfNames(added, listed);
    this.#listed.push(listed);
    for (const name of added) this.#names.add(name);
  }

  group(): HostGroup<Item> {
    const subset = this.#names.size > 0 ? namedHosts([...this.#names]) : allHosts;
    return { items: this.items, subset };
  }

  #newNames(selected: SelectedApplication): readonly string[] {
    return wantedHosts(selected).filter((name) => !this.#names.has(name));
  }

  /**
   * The rows that come with one more application: a name that one application wants is a row of every
   * other one that runs on that host, too.
   */
  #rowsOfNames(added: readonly string[], listed: ReadonlySet<string>): number {
    const ofOthers = this.#listed.reduce((sum, others) => sum + countIn(added, others), 0);
    const own = countIn([...this.#names], listed) + added.length;
    return ofOthers + own;
  }
}

function countIn(names: readonly string[], set: ReadonlySet<string>): number {
  return names.reduce((count, name) => count + (set.has(name) ? 1 : 0), 0);
}

function listedOf(selected: SelectedApplication): ReadonlySet<string> {
  return new Set(selected.application.hostIds ?? wantedHosts(selected));
}

/** Several groups of the hosts of one application. */
function dividedGroups<Item>(
  item: Item,
  selected: SelectedApplication,
  { rows }: QuerySize,
): readonly HostGroup<Item>[] {
  const subsets = isByName(selected)
    ? slicesOf(wantedHosts(selected), rows).map(namedHosts)
    : partsOf(selected.application.hostIds ?? wantedHosts(selected), rows);
  return subsets.map((subset) => ({ items: [item], subset }));
}
