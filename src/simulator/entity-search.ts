import { own } from '../model/own.ts';
import type { AccountDependencies } from './application-routes.ts';
import {
  alertSeverityOf,
  type EntityState,
  entityAttributesOf,
  entityDocument,
  entityOutline,
  type GraphqlAccount,
} from './entity-documents.ts';
import { entityGuidOf } from './entity-guid.ts';
import { type EntityPredicate, parseEntityQuery } from './entity-query.ts';
import type { GraphqlArguments, GraphqlObject } from './graphql-execution.ts';
import { invalidInput } from './graphql-failure.ts';
import type { SimulatedApplication } from './simulated-application.ts';

export interface EntitySearchOptions {
  readonly account: GraphqlAccount;
  /** The largest page; a search can only ask for a smaller one. */
  readonly pageSize: number;
}

/** The applications as entities. */
export interface EntitySearch {
  /** The field `entitySearch`. Throws `INVALID_INPUT`. */
  search(args: GraphqlArguments): GraphqlObject;
  /** The field `entities`: those that exist, in the order of `guids`. */
  entities(guids: readonly string[]): readonly GraphqlObject[];
}

type Json = Readonly<Record<string, unknown>>;

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/** A cursor says where the next page begins. Clients cannot read it. The mark makes it another one. */
export function cursorOf(offset: number, mark = ''): string {
  return Buffer.from(`entities after ${offset}${mark}`).toString('base64url');
}

function offsetOf(cursor: unknown): number {
  if (cursor === undefined || cursor === null) return 0;
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const offset = /^entities after (?<offset>\d+)/.exec(text)?.groups?.['offset'];
  // The vendor refuses an empty cursor as well.
  if (offset === undefined) throw invalidInput('Invalid cursor value');
  return Number(offset);
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : '';
}

/** `queryBuilder` has the most important conditions as members. */
function builtPredicate(builder: Json): EntityPredicate {
  const wanted = ['domain', 'type', 'name', 'alertSeverity', 'reporting']
    .map((name) => ({ name, text: textOf(own(builder, name)) }))
    .filter(({ text }) => text !== '');
  return (attributes) =>
    wanted.every(({ name, text }) =>
      attributes(name).some((value) => (name === 'name' ? value.includes(text) : value === text)),
    );
}

function predicateOf({ query, queryBuilder }: GraphqlArguments): EntityPredicate {
  const hasQuery = typeof query === 'string' && query !== '';
  if (hasQuery && isJson(queryBuilder)) {
    throw invalidInput('Give either query or queryBuilder, not both');
  }
  if (hasQuery) return parseEntityQuery(query);
  if (isJson(queryBuilder)) return builtPredicate(queryBuilder);
  throw invalidInput('One of query and queryBuilder is required');
}

const sortKeys: Readonly<Record<string, (application: SimulatedApplication) => string>> = {
  NAME: (application) => application.name,
  ALERT_SEVERITY: alertSeverityOf,
  REPORTING: (application) => String(application.silentSinceMs === undefined),
};

function asList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Sorts by all criteria that are given, the first one first. Equal ones keep their order. */
function sorted(
  applications: readonly SimulatedApplication[],
  { sortBy, sortByWithDirection }: GraphqlArguments,
): readonly SimulatedApplication[] {
  const criteria = [
    ...asList(sortBy).map((attribute) => ({ attribute, sign: 1 })),
    ...asList(sortByWithDirection)
      .filter(isJson)
      .map(({ attribute, direction }) => ({ attribute, sign: direction === 'DESC' ? -1 : 1 })),
  ].map(({ attribute, sign }) => ({ key: own(sortKeys, String(attribute)) ?? (() => ''), sign }));
  return applications.toSorted((left, right) => {
    for (const { key, sign } of criteria) {
      const order = sign * compareTexts(key(left), key(right));
      if (order !== 0) return order;
    }
    return 0;
  });
}

function limitOf(options: unknown, pageSize: number): number {
  const limit = isJson(options) ? options['limit'] : undefined;
  return typeof limit === 'number' && limit > 0 ? Math.min(limit, pageSize) : pageSize;
}

export function createEntitySearch(
  options: EntitySearchOptions,
  dependencies: AccountDependencies,
): EntitySearch {
  const { account } = options;
  const { fleet, calls, clock } = dependencies;

  const stateOf = (application: SimulatedApplication): EntityState => ({
    account,
    nowMs: clock.wallMs(),
    listedHosts: fleet.listedHosts(application),
    calls,
  });

  return {
    search: (args) => {
      const isMeant = predicateOf(args);
      const limit = limitOf(args['options'], options.pageSize);
      const found = sorted(
        fleet.applications().filter((entry) => isMeant(entityAttributesOf(entry, account))),
        args,
      );
      return {
        count: found.length,
        query: args['query'],
        results: ({ cursor }: GraphqlArguments) => {
          const offset = offsetOf(cursor);
          const end = offset + limit;
          return {
            nextCursor: end < found.length ? cursorOf(end) : null,
            entities: found.slice(offset, end).map((entry) => entityOutline(entry, stateOf(entry))),
          };
        },
      };
    },
    entities: (guids) => {
      const byGuid = new Map(
        fleet.applications().map((entry) => [entityGuidOf(account.id, entry), entry]),
      );
      return guids
        .map((guid) => byGuid.get(guid))
        .filter((entry) => entry !== undefined)
        .map((entry) => entityDocument(entry, stateOf(entry)));
    },
  };
}
