import { minuteMs } from '../model/time.ts';
import type { GraphqlFault } from './graphql-fault.ts';
import { type Change, isJson, type Json, keep } from './json-change.ts';

function changedMembers(record: Json, change: Change): Json {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function sumOf(records: readonly Json[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      if (typeof value === 'number') sum.set(name, (sum.get(name) ?? 0) + value);
    }
  }
  return sum;
}

function resultsOf(container: Json): readonly Json[] {
  const { results } = container;
  return Array.isArray(results) ? results.filter(isJson) : [];
}

/** A query without facets has no other result, and stays as it is. */
function truncated(container: unknown, rows: number): unknown {
  if (!isJson(container)) return container;
  const { otherResult } = container;
  if (!isJson(otherResult)) return container;
  const results = resultsOf(container);
  const others = changedMembers(otherResult, (value) => value ?? 0);
  const sum = sumOf([others, ...results.slice(rows)]);
  return {
    ...container,
    results: results.slice(0, rows),
    // The facets themselves may be numbers as well, but they do not add up.
    otherResult: Object.fromEntries(
      Object.keys(others).map((name) => [name, sum.get(name) ?? null]),
    ),
  };
}

const numberAsText: Change = (value) => (typeof value === 'number' ? String(value) : value);

function withTexts(container: unknown): unknown {
  if (!isJson(container)) return container;
  return {
    ...container,
    results: resultsOf(container).map((record) => changedMembers(record, numberAsText)),
  };
}

/** Without `otherResult`: that would tell. */
function shortened(container: unknown, rows: number, hidesOthers: boolean): unknown {
  if (!isJson(container)) return container;
  return {
    ...container,
    results: resultsOf(container).slice(0, rows),
    ...(hidesOthers ? { otherResult: null } : {}),
  };
}

/** What is not a facet: the sums have the same names. */
function columnsOf({ totalResult, otherResult }: Json): readonly string[] {
  const sums = [totalResult, otherResult].find(isJson) ?? {};
  return Object.keys(sums);
}

function withFacetTwice(container: unknown): unknown {
  if (!isJson(container)) return container;
  const [first, ...others] = resultsOf(container);
  if (first === undefined) return container;
  const columns = columnsOf(container);
  const half = (round: (value: number) => number): Json =>
    Object.fromEntries(
      Object.entries(first).map(([name, value]) => [
        name,
        columns.includes(name) && typeof value === 'number' ? round(value / 2) : value,
      ]),
    );
  return { ...container, results: [half(Math.floor), ...others, half(Math.ceil)] };
}

function withBareFacets(container: unknown): unknown {
  if (!isJson(container)) return container;
  const kept = new Set(['facet', ...columnsOf(container)]);
  const bare = (row: Json): Json =>
    Object.fromEntries(Object.entries(row).filter(([name]) => kept.has(name)));
  return { ...container, results: resultsOf(container).map(bare) };
}

function withMetadata(container: unknown, change: (metadata: Json) => Json): unknown {
  if (!isJson(container) || !isJson(container['metadata'])) return container;
  return { ...container, metadata: { ...container['metadata'], ...change(container['metadata']) } };
}

function movedBy(value: unknown, minutes: number): unknown {
  return typeof value === 'number' ? value + minutes * minuteMs : value;
}

function withOtherWindow(container: unknown, beginMinutes: number, endMinutes: number): unknown {
  return withMetadata(container, ({ timeWindow }) => {
    if (!isJson(timeWindow)) return {};
    const begin = movedBy(timeWindow['begin'], beginMinutes);
    const end = movedBy(timeWindow['end'], endMinutes);
    return { timeWindow: { ...timeWindow, begin, end } };
  });
}

function metadataChangeOf(fault: GraphqlFault): Change {
  if (fault.kind === 'messages') {
    return (container) => withMetadata(container, () => ({ messages: [fault.message] }));
  }
  if (fault.kind !== 'other_window') return keep;
  return (container) => withOtherWindow(container, fault.beginMinutes, fault.endMinutes);
}

/** What a fault does to an answer to NRQL. */
export function nrqlChangeOf(fault: GraphqlFault): Change {
  if (fault.kind === 'truncated') return (container) => truncated(container, fault.rows);
  if (fault.kind === 'short') {
    return (container) => shortened(container, fault.keep, fault.sign === 'none');
  }
  if (fault.kind === 'numbers_as_text') return withTexts;
  if (fault.kind === 'facet_twice') return withFacetTwice;
  if (fault.kind === 'bare_facets') return withBareFacets;
  return metadataChangeOf(fault);
}
