import { callOf, hasExactTotal, readNrql } from './nrql-text.ts';

/** A query with a count of the records behind each of its rows, and what New Relic does with these. */
export interface CountedNrql {
  readonly nrql: string;
  /** The member with the count; `undefined` without FACET, where nothing is counted. */
  readonly count: string | undefined;
  /** Whether the counts of all groups make up their total. */
  readonly isExact: boolean;
  /** The member that groups are chosen and sorted by, the largest first; `undefined` if that cannot be told. */
  readonly sortedBy: string | undefined;
}

/** What groups are sorted by if it is the first function. Any other function: by how many records they have. */
const sorting = /^(?:average|count|max|min|percentile)$/iu;

/**
 * @param nrql as an entry of `queries` has it in the end
 * @param name of the count; it comes last: the first function decides which groups there are
 */
export function countedNrql(nrql: string, name: string): CountedNrql {
  const read = readNrql(nrql);
  const select = read.clauses.get('SELECT') ?? [];
  const [first, last] = [select[0], select.at(-1)];
  if (first === undefined || last === undefined || !read.clauses.has('FACET')) {
    return { nrql, count: undefined, isExact: false, sortedBy: undefined };
  }
  const { name: called, isAll } = callOf(first.expression);
  const isSorting = isAll && sorting.test(called);
  const isOrdered = read.clauses.has('ORDER BY');
  return {
    nrql: `${nrql.slice(0, last.end)}, count(*) AS ${name}${nrql.slice(last.end)}`,
    count: name,
    isExact: hasExactTotal(read),
    sortedBy: isOrdered ? undefined : isSorting ? first.alias : name,
  };
}
