import type { Application } from './application.ts';
import type { AppEntry, NamePattern, PatternSource, Selector } from './config.ts';

/** The selector as its user wrote it, such as `id=123`: the value of the label `selector`. */
export function selectorText(selector: Selector<PatternSource>): string {
  switch (selector.kind) {
    case 'id':
      return `id=${selector.id}`;
    case 'name':
      return `name=${selector.name}`;
    case 'match':
      return `match=${selector.pattern.source}`;
  }
}

/** An application together with the entry that chose it. */
export interface SelectedApplication {
  readonly application: Application;
  readonly entry: AppEntry;
}

export interface Selection {
  readonly selected: readonly SelectedApplication[];
  /** The entries that chose nothing, not even something an earlier entry had taken. */
  readonly missing: readonly AppEntry[];
}

/** What the applications have that entries by id or name ask for. */
interface Listed {
  readonly ids: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

/** The places of the first entries with each id and each name. */
function placesOf(entries: readonly AppEntry[]): {
  readonly byId: ReadonlyMap<string, number>;
  readonly byName: ReadonlyMap<string, number>;
} {
  const byId = new Map<string, number>();
  const byName = new Map<string, number>();
  for (const [place, { selector }] of entries.entries()) {
    if (selector.kind === 'id' && !byId.has(selector.id)) byId.set(selector.id, place);
    if (selector.kind === 'name' && !byName.has(selector.name)) byName.set(selector.name, place);
  }
  return { byId, byName };
}

/**
 * Lowers the place of every application that the pattern at `place` chooses before any other entry.
 * Whether it chooses any application at all, even one that belongs to another.
 */
function choose(
  pattern: NamePattern,
  place: number,
  applications: readonly Application[],
  firstPlaces: number[],
): boolean {
  let isFound = false;
  for (const [index, { name }] of applications.entries()) {
    const first = firstPlaces[index] ?? none;
    if ((isFound && first < place) || !pattern.test(name)) continue;
    isFound = true;
    firstPlaces[index] = Math.min(first, place);
  }
  return isFound;
}

function isListed({ selector }: AppEntry, { ids, names }: Listed): boolean {
  if (selector.kind === 'id') return ids.has(selector.id);
  return selector.kind === 'name' && names.has(selector.name);
}

/** The place of no entry. */
const none = Number.POSITIVE_INFINITY;

/**
 * Matches the entries of one account with the applications that it has. An application chosen by
 * several entries belongs to the first of them, so that it is polled once. Takes time in proportion
 * to entries and applications; only each pattern is compared with each application.
 */
export function selectApplications(
  entries: readonly AppEntry[],
  applications: readonly Application[],
): Selection {
  const { byId, byName } = placesOf(entries);
  const firstPlaces = applications.map(({ id, name }) =>
    Math.min(byId.get(id) ?? none, byName.get(name) ?? none),
  );
  const matching = new Set<AppEntry>();
  // One pattern after the other: searching many names in a row with the same one is quickest.
  for (const [place, entry] of entries.entries()) {
    const { selector } = entry;
    if (selector.kind !== 'match') continue;
    if (choose(selector.pattern, place, applications, firstPlaces)) matching.add(entry);
  }
  const selected = applications.flatMap((application, index) => {
    const entry = entries[firstPlaces[index] ?? none];
    return entry === undefined ? [] : [{ application, entry }];
  });
  const listed = {
    ids: new Set(applications.map(({ id }) => id)),
    names: new Set(applications.map(({ name }) => name)),
  };
  const missing = entries.filter((entry) => !matching.has(entry) && !isListed(entry, listed));
  return { selected, missing };
}
