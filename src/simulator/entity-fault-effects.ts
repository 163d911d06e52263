import { randomUUID } from 'node:crypto';
import { own } from '../model/own.ts';
import { cursorOf } from './entity-search.ts';
import type { GraphqlFault } from './graphql-fault.ts';
import { type Change, isJson, type Json, keep } from './json-change.ts';

/** A search whose page has other members. */
function withPage(search: unknown, change: (page: Json) => Json): unknown {
  if (!isJson(search) || !isJson(search['results'])) return search;
  return { ...search, results: { ...search['results'], ...change(search['results']) } };
}

function entitiesOf({ entities }: Json): readonly unknown[] {
  return Array.isArray(entities) ? entities : [];
}

/** A copy of an entity with what tells the accounts apart, as far as it was asked for. */
function foreignOf(entity: Json, accountId: number): Json {
  const applicationId = accountId + 1;
  const guid = Buffer.from(`${accountId}|APM|APPLICATION|${applicationId}`).toString('base64');
  const others: Json = { accountId, applicationId, guid, name: `Application of ${accountId}` };
  const members = Object.entries(entity).map(([name, value]) => [name, own(others, name) ?? value]);
  return Object.fromEntries(members);
}

function withForeignEntity(search: unknown, accountId: number): unknown {
  if (!isJson(search)) return search;
  const { count } = search;
  const counted = { ...search, ...(typeof count === 'number' ? { count: count + 1 } : {}) };
  return withPage(counted, (page) => {
    const entities = entitiesOf(page);
    const copies = entities.filter(isJson).slice(0, 1);
    return { entities: [...entities, ...copies.map((entity) => foreignOf(entity, accountId))] };
  });
}

/** What a fault does to a search for entities. */
export function searchChangeOf(fault: GraphqlFault): Change {
  if (fault.kind === 'foreign_entity') {
    return (search) => withForeignEntity(search, fault.accountId);
  }
  if (fault.kind === 'endless_list') {
    return (search) => withPage(search, () => ({ nextCursor: cursorOf(0, ` ${randomUUID()}`) }));
  }
  if (fault.kind !== 'short') return keep;
  return (search) =>
    withPage(search, (page) => ({
      entities: entitiesOf(page).slice(0, fault.keep),
      nextCursor: null,
    }));
}
