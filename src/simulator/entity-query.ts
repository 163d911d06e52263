import { invalidInput } from './graphql-failure.ts';
import { likePattern } from './nrql-condition-parser.ts';
import { createNrqlReader, type NrqlReader } from './nrql-reader.ts';

/** The values of an attribute of an entity. Only tags have several. */
export type EntityAttributes = (name: string) => readonly string[];

/** Whether an entity meets the condition of a search. */
export type EntityPredicate = (attributes: EntityAttributes) => boolean;

/** Without `tags.x`, which are free. */
const searchable: ReadonlySet<string> = new Set([
  'id',
  'guid',
  'name',
  'accountId',
  'domain',
  'type',
  'domainId',
  'domainType',
  'entityType',
  'reporting',
  'alertSeverity',
]);

function attributeOf(reader: NrqlReader): string {
  const name = reader.attribute();
  if (searchable.has(name) || name.startsWith('tags.')) return name;
  throw invalidInput(`Entity search has no attribute '${name}'`);
}

function value(reader: NrqlReader): string {
  const { kind, text } = reader.peek();
  if (kind !== 'text' && kind !== 'number' && !['true', 'false'].includes(text.toLowerCase())) {
    throw reader.fail('expected a value in quotes');
  }
  return reader.next().text;
}

function values(reader: NrqlReader): readonly string[] {
  reader.expectSymbol('(');
  const found = [value(reader)];
  while (reader.takeSymbol(',')) found.push(value(reader));
  reader.expectSymbol(')');
  return found;
}

function comparison(reader: NrqlReader): EntityPredicate {
  const name = attributeOf(reader);
  const some =
    (test: (text: string) => boolean): EntityPredicate =>
    (attributes) =>
      attributes(name).some(test);
  const none =
    (test: (text: string) => boolean): EntityPredicate =>
    (attributes) =>
      !attributes(name).some(test);
  if (reader.takeWords('IS', 'NOT', 'NULL')) return some(() => true);
  if (reader.takeWords('IS', 'NULL')) return none(() => true);
  if (reader.takeSymbol('!=')) {
    const wanted = value(reader);
    return none((text) => text === wanted);
  }
  if (reader.takeSymbol('=')) {
    const wanted = value(reader);
    return some((text) => text === wanted);
  }
  const quantifier = reader.takeWords('NOT') ? none : some;
  if (reader.takeWords('IN')) {
    const wanted = new Set(values(reader));
    return quantifier((text) => wanted.has(text));
  }
  if (!reader.takeWords('LIKE')) throw reader.fail('expected =, !=, LIKE, IN or IS');
  const pattern = likePattern(value(reader));
  return quantifier((text) => pattern.test(text));
}

function single(reader: NrqlReader): EntityPredicate {
  if (reader.takeWords('NOT')) {
    const inner = single(reader);
    return (attributes) => !inner(attributes);
  }
  if (!reader.takeSymbol('(')) return comparison(reader);
  const inner = disjunction(reader);
  reader.expectSymbol(')');
  return inner;
}

function conjunction(reader: NrqlReader): EntityPredicate {
  const parts = [single(reader)];
  while (reader.takeWords('AND')) parts.push(single(reader));
  return (attributes) => parts.every((part) => part(attributes));
}

function disjunction(reader: NrqlReader): EntityPredicate {
  const parts = [conjunction(reader)];
  while (reader.takeWords('OR')) parts.push(conjunction(reader));
  return (attributes) => parts.some((part) => part(attributes));
}

/** Parses the query of an entity search. Its tokens are those of NRQL. Throws `INVALID_INPUT`. */
export function parseEntityQuery(text: string): EntityPredicate {
  const reader = createNrqlReader(text);
  const predicate = disjunction(reader);
  if (reader.peek().kind !== 'end') throw reader.fail('expected AND, OR or the end');
  return predicate;
}
