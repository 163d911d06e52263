import { own } from '../model/own.ts';
import type { Answer } from './answer.ts';
import { searchChangeOf } from './entity-fault-effects.ts';
import { graphqlAnswer } from './graphql-answers.ts';
import type { GraphqlAsk } from './graphql-asks.ts';
import { extensionsOf, type GraphqlError } from './graphql-failure.ts';
import type { GraphqlFault } from './graphql-fault.ts';
import type { Rewrite } from './graphql-routes.ts';
import { type Change, isJson, keep } from './json-change.ts';
import { nrqlChangeOf } from './nrql-fault-effects.ts';

/** The document with the value at `path` changed, if there is one. */
function changedAt(document: unknown, path: readonly string[], change: Change): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(document);
  if (!isJson(document) || !Object.hasOwn(document, name)) return document;
  return { ...document, [name]: changedAt(own(document, name), rest, change) };
}

/** What happens to the value of a field that reads data. */
function changeOf(fault: GraphqlFault, { operation, path }: GraphqlAsk): Change {
  if (fault.kind === 'null_nrql') return () => null;
  if (fault.kind === 'graphql_error') {
    return fault.partial === undefined || fault.partial === path.at(-1) ? () => null : keep;
  }
  return operation === 'nrql' ? nrqlChangeOf(fault) : searchChangeOf(fault);
}

const deprecation =
  'This field is deprecated! Please update your query to avoid failures in the future.';

function errorsOf(fault: GraphqlFault, asks: readonly GraphqlAsk[]): readonly GraphqlError[] {
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
    return asks.map(({ path }) => ({
      message,
      locations,
      path,
      extensions: extensionsOf('TIMEOUT'),
    }));
  }
  if (fault.kind !== 'warning') return [];
  const { message = deprecation } = fault;
  return asks.map(({ path }) => ({ message, path, extensions: {} }));
}

/**
 * Makes the answer with a fault of the normal one, or of what `ask` answers to rewritten texts. A refusal
 * stays as it is, and so does what reads no data.
 */
export function withGraphqlFault(
  fault: GraphqlFault,
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
