import type { Application } from './application.ts';
import type { AppEntry, Selector } from './config.ts';

/** The selector as its user wrote it, such as `id=123`: the value of the label `selector`. */
export function selectorText(selector: Selector): string {
  switch (selector.kind) {
    case 'id':
      return `id=${selector.id}`;
    case 'name':
      return `name=${selector.name}`;
    case 'match':
      return `match=${selector.pattern.source}`;
  }
}

export function polledBy<Entry extends AppEntry>(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ exclude }) => !exclude);
}

/** Chooses applications by the entries of one account. */
export interface ApplicationSelector<Entry = AppEntry> {
  /** How many entries are patterns: they are tried one after the other for each application. */
  readonly patterns: number;
  /** The first of the entries that choose the application. */
  entryOf(application: Application): Entry | undefined;
  /**
   * The entries that have chosen nothing so far, not even an application that an earlier entry had
   * taken. One that leaves out nothing is not among them.
   */
  missing(): readonly Entry[];
}

/**
 * Ids and names are looked up in maps, so that the cost does not grow with the number of entries.
 */
export function createApplicationSelector<Entry extends AppEntry>(
  entries: readonly Entry[],
): ApplicationSelector<Entry> {
  const byId = new Map<string, number>();
  const byName = new Map<string, number>();
  const patterns: number[] = [];
  const chosen = new Set<number>();
  // Entries with the same id or name choose the same: only the first of them is looked up.
  const firstAlike = entries.map(({ selector }, index) => {
    if (selector.kind === 'id') return firstWith(byId, selector.id, index);
    if (selector.kind === 'name') return firstWith(byName, selector.name, index);
    patterns.push(index);
    return index;
  });

  return {
    patterns: patterns.length,
    entryOf: ({ id, name }) => {
      let first = Number.POSITIVE_INFINITY;
      const choose = (index: number | undefined): void => {
        if (index === undefined) return;
        chosen.add(index);
        first = Math.min(first, index);
      };
      choose(byId.get(id));
      choose(byName.get(name));
      for (const index of patterns) {
        // Whether it matches no longer matters.
        if (first < index && chosen.has(index)) continue;
        const selector = entries[index]?.selector;
        if (selector?.kind === 'match' && selector.pattern.test(name)) choose(index);
      }
      return entries[first];
    },
    missing: () =>
      entries.filter(({ exclude }, index) => !exclude && !chosen.has(firstAlike[index] ?? index)),
  };
}

function firstWith(indexes: Map<string, number>, key: string, index: number): number {
  const first = indexes.get(key) ?? index;
  indexes.set(key, first);
  return first;
}
