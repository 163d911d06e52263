import type { FieldNode } from 'graphql/language/ast.js';
import { getLocation } from 'graphql/language/location.js';
import { extensionsOf, type GraphqlError, GraphqlFailure } from './graphql-failure.ts';
import type { GraphqlRequest } from './graphql-request.ts';
import {
  argumentsOf,
  fieldsOf,
  type GraphqlArguments,
  selectionSetsOf,
} from './graphql-selection.ts';

/** A field that is worked out when it is asked for. It may throw a `GraphqlFailure`. */
export type GraphqlResolver = (args: GraphqlArguments) => unknown;

/**
 * An object of the schema. Each member is a value, another object, a list of them, or a
 * `GraphqlResolver`. `@types` lists the names of its type and of the interfaces that it implements;
 * without it every fragment is taken to be meant for it.
 */
export interface GraphqlObject {
  readonly '@types'?: readonly string[] | undefined;
  readonly [field: string]: unknown;
}

/** The document of an answer. */
export interface GraphqlResult {
  readonly data: unknown;
  readonly errors?: readonly GraphqlError[] | undefined;
}

type Path = readonly (string | number)[];

function isGraphqlObject(value: unknown): value is GraphqlObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isResolver(value: unknown): value is GraphqlResolver {
  return typeof value === 'function';
}

function errorOf(failure: GraphqlFailure, field: FieldNode, path: Path): GraphqlError {
  const { loc } = field;
  return {
    message: failure.message,
    ...(loc === undefined ? {} : { locations: [getLocation(loc.source, loc.start)] }),
    path,
    extensions: extensionsOf(failure.errorClass, failure.classification),
  };
}

/**
 * Executes a query as leniently as possible: a field that an object does not have is null. So any
 * client of the vendor gets an answer to all the fields that it asks for.
 */
export function executeGraphql(request: GraphqlRequest, root: GraphqlObject): GraphqlResult {
  const errors: GraphqlError[] = [];

  const valueOf = (parent: GraphqlObject, field: FieldNode): unknown => {
    const name = field.name.value;
    if (name === '__typename') return parent['@types']?.[0] ?? null;
    if (!Object.hasOwn(parent, name)) return null;
    const member = parent[name];
    return isResolver(member) ? member(argumentsOf(field, request.variables)) : member;
  };

  const completed = (value: unknown, fields: readonly FieldNode[], path: Path): unknown => {
    if (value === undefined || value === null) return null;
    if (Array.isArray(value)) {
      return value.map((item, index) => completed(item, fields, [...path, index]));
    }
    const sets = selectionSetsOf(fields);
    if (!isGraphqlObject(value) || sets.length === 0) return value;
    const answer: Record<string, unknown> = {};
    for (const [key, wanted] of fieldsOf(sets, value['@types'], request)) {
      answer[key] = resolved(value, wanted, [...path, key]);
    }
    return answer;
  };

  const resolved = (parent: GraphqlObject, fields: readonly FieldNode[], path: Path): unknown => {
    const [field] = fields;
    if (field === undefined) return null;
    try {
      return completed(valueOf(parent, field), fields, path);
    } catch (error) {
      if (!(error instanceof GraphqlFailure)) throw error;
      errors.push(errorOf(error, field, path));
      return null;
    }
  };

  const data: Record<string, unknown> = {};
  for (const [key, fields] of fieldsOf([request.operation.selectionSet], undefined, request)) {
    data[key] = resolved(root, fields, [key]);
  }
  return errors.length === 0 ? { data } : { data, errors };
}
