import type { Answer } from './answer.ts';
import { graphqlAnswer } from './graphql-answers.ts';
import type { GraphqlAsk } from './graphql-asks.ts';
import type { GraphqlResult } from './graphql-execution.ts';
import { extensionsOf, type GraphqlError } from './graphql-failure.ts';
import type { GraphqlFault } from './graphql-fault.ts';

type Json = Readonly<Record<string, unknown>>;
type Change = (value: unknown) => unknown;

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isResult(value: unknown): value is GraphqlResult {
  return isJson(value) && Object.hasOwn(value, 'data');
}

/** The document with the value at `path` changed, if there is one. */
function changedAt(document: unknown, path: readonly string[], change: Change): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(document);
  if (!isJson(document) || !Object.hasOwn(document, name)) return document;
  return { ...document, [name]: changedAt(document[name], rest, change) };
}

function changedMembers(record: Json, change: Change): Json {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function sumOf(records: readonly Json[]): Json {
  const sum: Record<string, number> = {};
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      if (typeof value === 'number') sum[name] = (sum[name] ?? 0) + value;
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
    otherResult: Object.fromEntries(Object.keys(others).map((name) => [name, sum[name] ?? null])),
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

const keep: Change = (value) => value;

/** What happens to the value of each field that reads data. */
function changeOf(fault: GraphqlFault, { operation, path }: GraphqlAsk): Change {
  switch (fault.kind) {
    case 'graphql_error':
      return fault.partial === undefined || fault.partial === path.at(-1) ? () => null : keep;
    case 'null_nrql':
      return () => null;
    case 'truncated':
      return operation === 'nrql' ? (value) => truncated(value, fault.rows) : keep;
    case 'numbers_as_text':
      return operation === 'nrql' ? withTexts : keep;
    case 'warning':
      return keep;
  }
}

const deprecation =
  'This field is deprecated! Please update your query to avoid failures in the future.';

function errorsOf(fault: GraphqlFault, asks: readonly GraphqlAsk[]): readonly GraphqlError[] {
  switch (fault.kind) {
    case 'graphql_error':
      return asks
        .filter(({ path }) => fault.partial === undefined || fault.partial === path.at(-1))
        .map(({ path }) => ({
          message: fault.message,
          locations: [{ line: 1, column: 1 }],
          path,
          extensions: extensionsOf(fault.errorClass, fault.classification),
        }));
    case 'warning':
      return asks.map(({ path }) => ({
        message: fault.message ?? deprecation,
        path,
        extensions: {},
      }));
    case 'null_nrql':
    case 'truncated':
    case 'numbers_as_text':
      return [];
  }
}

/** Makes the answer with a fault of the normal one. A refusal stays as it is, and so does
 * what reads no data. */
export function withGraphqlFault(
  fault: GraphqlFault,
  asks: readonly GraphqlAsk[],
  answer: Answer,
): Answer {
  if (asks.length === 0) return answer;
  const normal: unknown = JSON.parse(answer.body);
  if (!isResult(normal)) return answer;
  const data = asks.reduce<unknown>(
    (document, ask) => changedAt(document, ask.path, changeOf(fault, ask)),
    normal.data,
  );
  const errors = [...(normal.errors ?? []), ...errorsOf(fault, asks)];
  return graphqlAnswer(errors.length === 0 ? { data } : { data, errors });
}
