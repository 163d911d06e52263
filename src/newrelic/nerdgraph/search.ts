import type { Selector } from '../../model/config.ts';
import { maxNrqlCharacters } from './column-sets.ts';

/** What ids or names may take of a text, which is as long as a query may be. */
const roomForValues = maxNrqlCharacters - 200;

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
    ...listsOf(wanted.ids).map((ids) => `${all} AND domainId IN (${ids})`),
    ...listsOf(wanted.names).map((names) => `${all} AND name IN (${names})`),
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
  const wanted = { ids: [...ids], names: [...names] };
  const searches = listsOf(wanted.ids).length + listsOf(wanted.names).length;
  return searches > 0 && searches <= mostSearches ? wanted : undefined;
}

/** It is not documented how a quote is written in a search. */
function isPlain(name: string): boolean {
  return !/['"\\]/.test(name);
}

/** The values as lists, each of which one search has room for. */
function listsOf(values: readonly string[]): readonly string[] {
  const lists: string[] = [];
  for (const text of values.map((value) => `'${value}'`)) {
    const longer = `${lists.at(-1)},${text}`;
    if (lists.length === 0 || longer.length > roomForValues) lists.push(text);
    else lists[lists.length - 1] = longer;
  }
  return lists;
}
