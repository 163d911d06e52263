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
import { otherEntities } from './other-entities.ts';
import type { SimulatedHost } from './simulated-application.ts';

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

/** Whether an entity is meant; `undefined` if that depends on attributes that are not known yet. */
type Predicate = NrqlCondition['verdict'];

function predicateOf({ query, queryBuilder }: GraphqlArguments): Predicate {
  const hasQuery = typeof query === 'string' && query !== '';
  if (hasQuery === isJson(queryBuilder)) {
    throw invalidInput('One of query and queryBuilder is required, and not both');
  }
  if (hasQuery) return parseEntityQuery(query).verdict;
  const wanted = isJson(queryBuilder) ? Object.entries(queryBuilder) : [];
  return (entity) => {
    const values = wanted.map(([name, text]) => [entity.attribute(name), text]);
    if (values.some(([value, text]) => value !== undefined && value !== text)) return false;
    return values.some(([value]) => value === undefined) ? undefined : true;
  };
}

/** An entity, before its outline is made. */
interface Found {
  readonly name: string;
  readonly domain: string;
  readonly type: string;
  readonly outline: () => GraphqlObject;
}

/** The entities that are meant: applications of APM, and others, which all report. */
function foundIn(
  isMeant: Predicate,
  { fleet, calls }: SimulatedAccount,
  account: GraphqlAccount,
): readonly Found[] {
  const applications = fleet.applications();
  const isWanted = (attributes: EntityAttributes): boolean =>
    isMeant({ attribute: (name) => own(attributes, name) ?? null }) === true;
  const ofApm = applications
    .filter((application) => isWanted(entityAttributesOf(application, account)))
    .map((application): Found => {
      const hosts = (): readonly SimulatedHost[] => fleet.listedHosts(application);
      const outline = () => entityOutline(application, { account, calls, hosts: hosts() });
      return { name: application.name, domain: 'APM', type: 'APPLICATION', outline };
    });
  const reporting = applications.filter(({ silentSinceMs }) => silentSinceMs === undefined);
  const others = otherEntities(account.id, reporting).flatMap(({ domain, type, outlines }) => {
    const known = { domain, type, accountId: String(account.id), reporting: 'true' };
    // Hosts are many: what is not meant as a whole is not even listed.
    if (isMeant({ attribute: (name) => own(known, name) }) === false) return [];
    return outlines().flatMap((entity): readonly Found[] => {
      const name = String(entity['name']);
      return isWanted({ ...known, name }) ? [{ name, domain, type, outline: () => entity }] : [];
    });
  });
  return [...ofApm, ...others];
}

/** How many there are of each type. */
function typesIn(found: readonly Found[]): readonly GraphqlObject[] {
  const counts = new Map<string, { domain: string; type: string; count: number }>();
  for (const { domain, type } of found) {
    const { count } = counts.get(`${domain}-${type}`) ?? { count: 0 };
    counts.set(`${domain}-${type}`, { domain, type, count: count + 1 });
  }
  return [...counts.values()];
}

function byName(left: Found, right: Found): number {
  if (left.name === right.name) return 0;
  return left.name < right.name ? -1 : 1;
}

/**
 * The field `entitySearch`: applications and other entities, so many on a page. Throws `INVALID_INPUT`.
 */
export function searchEntities(
  args: GraphqlArguments,
  simulated: SimulatedAccount,
  { account, pageSize }: { readonly account: GraphqlAccount; readonly pageSize: number },
): GraphqlObject {
  const found = foundIn(predicateOf(args), simulated, account).toSorted(
    args['sortByWithDirection'] === undefined ? () => 0 : byName,
  );
  const { limit } = isJson(args['options']) ? args['options'] : {};
  const most = typeof limit === 'number' ? Math.min(limit, pageSize) : pageSize;
  return {
    count: found.length,
    types: () => typesIn(found),
    results: ({ cursor }: GraphqlArguments) => {
      const offset = offsetOf(cursor);
      const end = offset + most;
      return {
        nextCursor: end < found.length ? cursorOf(end) : null,
        entities: found.slice(offset, end).map(({ outline }) => outline()),
      };
    },
  };
}
