import { own } from '../model/own.ts';
import {
  type EntityAttributes,
  entityAttributesOf,
  entityOutline,
  type GraphqlAccount,
} from './entity-documents.ts';
import type { SimulatedAccount } from './fleet.ts';
import { type GraphqlArguments, type GraphqlObject, invalidInput, isJson } from './graphql.ts';
import { type NrqlCondition, parseNrqlCondition } from './nrql-condition.ts';
import { NrqlReader } from './nrql-reader.ts';
import type { SimulatedApplication } from './simulated-application.ts';

/** Without `tags.x`, which are free. */
const searchable: ReadonlySet<string> = new Set([
  'name',
  'accountId',
  'domain',
  'type',
  'domainId',
  'reporting',
  'alertSeverity',
]);

/** Parses the query of an entity search, whose language is that of conditions in NRQL. Throws `INVALID_INPUT`. */
export function parseEntityQuery(text: string): NrqlCondition {
  const reader = new NrqlReader(text, searchable);
  const condition = parseNrqlCondition(reader);
  if (reader.peek().kind !== 'end') throw reader.fail('expected AND, OR or the end');
  return condition;
}

/** A cursor says where the next page begins. Clients cannot read it. */
function cursorOf(offset: number): string {
  return Buffer.from(`entities after ${offset}`).toString('base64url');
}

function offsetOf(cursor: unknown): number {
  if (cursor === undefined || cursor === null) return 0;
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const offset = /^entities after (?<offset>\d+)/.exec(text)?.groups?.['offset'];
  // The vendor refuses an empty cursor as well.
  if (offset === undefined) throw invalidInput('Invalid cursor value');
  return Number(offset);
}

type Predicate = (attributes: EntityAttributes) => boolean;

function predicateOf({ query, queryBuilder }: GraphqlArguments): Predicate {
  const hasQuery = typeof query === 'string' && query !== '';
  if (hasQuery === isJson(queryBuilder)) {
    throw invalidInput('One of query and queryBuilder is required, and not both');
  }
  if (hasQuery) {
    const { verdict } = parseEntityQuery(query);
    return (attributes) => verdict({ attribute: (name) => own(attributes, name) ?? null }) === true;
  }
  const wanted = isJson(queryBuilder) ? Object.entries(queryBuilder) : [];
  return (attributes) => wanted.every(([name, text]) => own(attributes, name) === text);
}

function byName(left: SimulatedApplication, right: SimulatedApplication): number {
  if (left.name === right.name) return 0;
  return left.name < right.name ? -1 : 1;
}

/**
 * The field `entitySearch`: the applications as entities, so many on a page. Throws `INVALID_INPUT`.
 */
export function searchEntities(
  args: GraphqlArguments,
  { fleet, calls }: SimulatedAccount,
  { account, pageSize }: { readonly account: GraphqlAccount; readonly pageSize: number },
): GraphqlObject {
  const isMeant = predicateOf(args);
  const found = fleet
    .applications()
    .filter((application) => isMeant(entityAttributesOf(application, account)))
    .toSorted(args['sortByWithDirection'] === undefined ? () => 0 : byName);
  return {
    count: found.length,
    results: ({ cursor }: GraphqlArguments) => {
      const offset = offsetOf(cursor);
      const end = offset + pageSize;
      return {
        nextCursor: end < found.length ? cursorOf(end) : null,
        entities: found
          .slice(offset, end)
          .map((application) =>
            entityOutline(application, { account, calls, hosts: fleet.listedHosts(application) }),
          ),
      };
    },
  };
}
