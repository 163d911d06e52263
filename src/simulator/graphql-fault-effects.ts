import { own } from '../model/own.ts';
import { minuteMs } from '../model/time.ts';
import type { Answer } from './answer.ts';
import type { Fault } from './fault.ts';
import { extensionsOf, type GraphqlAsk, graphqlAnswer, isJson, type Json } from './graphql.ts';
import type { Rewrite } from './graphql-routes.ts';

/** Makes another value of one that may be anything. */
type Change = (value: unknown) => unknown;

/**
 * Makes the answer with a fault of the normal one, or of what `ask` answers to rewritten texts. A refusal
 * stays as it is, and so does what reads no data.
 */
export function withGraphqlFault(
  fault: Fault,
  asks: readonly GraphqlAsk[],
  answer: Answer,
  ask: (rewrite: Rewrite) => Answer,
): Answer {
  if (asks.length === 0) return answer;
  if (fault.kind === 'other_answer') {
    return ask((text) => text.replaceAll(fault.replace, fault.by));
  }
  const normal: unknown = JSON.parse(answer.body);
  if (!isJson(normal) || !Object.hasOwn(normal, 'data')) return answer;
  const data = asks.reduce<unknown>(
    (document, asked) => changedAt(document, asked.path, changeOf(fault, asked)),
    normal['data'],
  );
  const before: readonly unknown[] = Array.isArray(normal['errors']) ? normal['errors'] : [];
  const errors = [...before, ...errorsOf(fault, asks)];
  return graphqlAnswer(errors.length === 0 ? { data } : { data, errors });
}

/** The document with the value at `path` changed, if there is one. */
function changedAt(document: unknown, path: readonly string[], change: Change): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(document);
  if (!isJson(document) || !Object.hasOwn(document, name)) return document;
  return { ...document, [name]: changedAt(own(document, name), rest, change) };
}

/** What happens to the value of a field that reads data. */
function changeOf(fault: Fault, { operation, path }: GraphqlAsk): Change {
  const isFailed =
    fault.kind === 'null_nrql' ||
    (fault.kind === 'graphql_error' &&
      (fault.partial === undefined || fault.partial === path.at(-1)));
  if (isFailed) return () => null;
  const changed = operation === 'nrql' ? changedNrql : changedSearch;
  return (value) => (isJson(value) ? { ...value, ...changed(fault, value) } : value);
}

const deprecation =
  'This field is deprecated! Please update your query to avoid failures in the future.';

function errorsOf(fault: Fault, asks: readonly GraphqlAsk[]): readonly object[] {
  const locations = [{ line: 1, column: 1 }];
  if (fault.kind === 'graphql_error') {
    const { message, errorClass, classification, partial } = fault;
    const extensions = extensionsOf(errorClass, classification);
    return asks
      .filter(({ path }) => partial === undefined || partial === path.at(-1))
      .map(({ path }) => ({ message, locations, path, extensions }));
  }
  if (fault.kind === 'short' && fault.sign === 'error') {
    const message = 'NRDB query duration exceeded the set timeout';
    const extensions = extensionsOf('TIMEOUT');
    return asks.map(({ path }) => ({ message, locations, path, extensions }));
  }
  if (fault.kind !== 'warning') return [];
  const { message = deprecation } = fault;
  return asks.map(({ path }) => ({ message, path, extensions: {} }));
}

/** The members of a search for entities that a fault changes. */
function changedSearch(fault: Fault, search: Json): Json {
  const { results: page } = search;
  if (!isJson(page)) return {};
  const entities: readonly unknown[] = Array.isArray(page['entities']) ? page['entities'] : [];
  if (fault.kind === 'foreign_entity') {
    const copies = entities.filter(isJson).slice(0, 1);
    const foreign = copies.map((entity) => foreignOf(entity, fault.accountId));
    const { count } = search;
    return {
      ...(typeof count === 'number' ? { count: count + 1 } : {}),
      results: { ...page, entities: [...entities, ...foreign] },
    };
  }
  if (fault.kind === 'short')
    return { results: { ...page, entities: entities.slice(0, fault.keep), nextCursor: null } };
  return {};
}

/** A copy of an entity with what tells the accounts apart, as far as it was asked for. */
function foreignOf(entity: Json, accountId: number): Json {
  const applicationId = accountId + 1;
  const guid = Buffer.from(`${accountId}|APM|APPLICATION|${applicationId}`).toString('base64');
  const others: Json = { accountId, applicationId, guid, name: `Application of ${accountId}` };
  return withMembers(entity, (value, name) => own(others, name) ?? value);
}

/** The members of an answer to NRQL that a fault changes. */
function changedNrql(fault: Fault, container: Json): Json {
  const { results, metadata } = container;
  const rows = Array.isArray(results) ? results.filter(isJson) : [];
  if (fault.kind === 'truncated') return truncated(container, rows, fault.rows);
  if (fault.kind === 'short') {
    const kept = rows.slice(0, fault.keep);
    // Without an error, the others would tell.
    return fault.sign === 'none' ? { results: kept, otherResult: null } : { results: kept };
  }
  if (fault.kind === 'numbers_as_text') {
    return {
      results: rows.map((row) =>
        withMembers(row, (value) => (typeof value === 'number' ? String(value) : value)),
      ),
    };
  }
  if (fault.kind === 'facet_twice') return withFacetTwice(container, rows);
  if (fault.kind === 'messages')
    return { metadata: { ...Object(metadata), messages: [fault.message] } };
  if (fault.kind === 'other_window')
    return isJson(metadata) ? { metadata: withOtherWindow(metadata, fault) } : {};
  return {};
}

function withMembers(record: Json, change: (value: unknown, name: string) => unknown): Json {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, change(value, name)]),
  );
}

/** A query without facets has no other result, and stays as it is. */
function truncated({ otherResult }: Json, rows: readonly Json[], kept: number): Json {
  if (!isJson(otherResult)) return {};
  const sum = new Map<string, number>();
  for (const record of [otherResult, ...rows.slice(kept)]) {
    for (const [name, value] of Object.entries(record)) {
      if (typeof value === 'number') sum.set(name, (sum.get(name) ?? 0) + value);
    }
  }
  return {
    results: rows.slice(0, kept),
    // The facets themselves may be numbers as well, but they do not add up.
    otherResult: withMembers(otherResult, (value, name) => sum.get(name) ?? value ?? 0),
  };
}

/** What is not a facet: the sums have the same names. */
function columnsOf({ totalResult, otherResult }: Json): readonly string[] {
  const sums = [totalResult, otherResult].find(isJson) ?? {};
  return Object.keys(sums);
}

function withFacetTwice(container: Json, [first, ...others]: readonly Json[]): Json {
  if (first === undefined) return {};
  const columns = columnsOf(container);
  const half = (round: (value: number) => number): Json =>
    withMembers(first, (value, name) =>
      columns.includes(name) && typeof value === 'number' ? round(value / 2) : value,
    );
  return { results: [half(Math.floor), ...others, half(Math.ceil)] };
}

function withOtherWindow(
  metadata: Json,
  by: { readonly beginMinutes: number; readonly endMinutes: number },
): Json {
  const { timeWindow } = metadata;
  if (!isJson(timeWindow)) return metadata;
  const moved = (name: string, minutes: number): unknown => {
    const value = own(timeWindow, name);
    return typeof value === 'number' ? value + minutes * minuteMs : value;
  };
  const begin = moved('begin', by.beginMinutes);
  return { ...metadata, timeWindow: { ...timeWindow, begin, end: moved('end', by.endMinutes) } };
}
