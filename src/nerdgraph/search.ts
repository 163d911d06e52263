import type { Selector } from '../model/config.ts';

/** More values would make the query of a search long. */
const valuesPerSearch = 200;
const namesPerSearch = 50;

/**
 * The texts to search entities with: every APM application of the account, or only those with the ids
 * and names that are wanted.
 */
export function searchesFor(
  accountId: number,
  wanted: WantedApplications | undefined,
): readonly string[] {
  const all = `domain = 'APM' AND type = 'APPLICATION' AND accountId = '${accountId}'`;
  if (wanted === undefined) return [all];
  return [
    ...listsOf(wanted.ids, valuesPerSearch).map((ids) => `${all} AND domainId IN (${ids})`),
    ...listsOf(wanted.names, namesPerSearch).map((names) => `${all} AND name IN (${names})`),
  ];
}

export interface WantedApplications {
  readonly ids: readonly string[];
  readonly names: readonly string[];
}

/** More searches than this take longer than the list of most accounts. */
const mostSearches = 5;

/** What to search for; `undefined` if the whole account has to be listed. */
export function wantedBy(selectors: readonly Selector[]): WantedApplications | undefined {
  const ids = new Set<string>();
  const names = new Set<string>();
  for (const selector of selectors) {
    if (selector.kind === 'match') return undefined;
    if (selector.kind === 'id') ids.add(selector.id);
    else if (isPlain(selector.name)) names.add(selector.name);
    else return undefined;
  }
  const searches = ids.size / valuesPerSearch + names.size / namesPerSearch;
  const isFew = selectors.length > 0 && searches <= mostSearches;
  return isFew ? { ids: [...ids], names: [...names] } : undefined;
}

/** It is not documented how a quote is written in a search. */
function isPlain(name: string): boolean {
  return !/['"\\]/.test(name);
}

function listsOf(values: readonly string[], most: number): readonly string[] {
  const count = Math.ceil(values.length / most);
  return Array.from({ length: count }, (_, index) =>
    values
      .slice(index * most, (index + 1) * most)
      .map((value) => `'${value}'`)
      .join(','),
  );
}
