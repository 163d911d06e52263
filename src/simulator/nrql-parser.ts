import { parseNrqlCondition } from './nrql-condition-parser.ts';
import { durationMs, parseNrqlSelect } from './nrql-expression-parser.ts';
import type { NrqlFacet, NrqlMoment, NrqlQuery } from './nrql-query.ts';
import { createNrqlReader, type NrqlReader } from './nrql-reader.ts';
import { parseNrqlFacet } from './nrql-term-parser.ts';

const defaultLimit = 10;
const highestLimit = 5000;
const mostFacets = 5;
const defaultSinceMs = 3_600_000;

/** Seconds, microseconds and nanoseconds of our time are all outside. */
const earliestMs = Date.UTC(2001);
const latestMs = Date.UTC(2100);

/** The clauses of a query so far. */
type Clauses = { -readonly [Key in keyof NrqlQuery]?: NrqlQuery[Key] };

function moment(reader: NrqlReader): NrqlMoment {
  if (reader.takeWords('NOW')) return { kind: 'ago', ms: 0 };
  const { kind, text } = reader.peek();
  if (kind === 'text') {
    const timeMs = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`);
    if (Number.isNaN(timeMs)) throw reader.fail('expected a time such as 2026-09-01 10:00:00');
    reader.next();
    return { kind: 'at', timeMs };
  }
  // Only a point in time has more than nine digits.
  if (kind === 'number' && text.length > 9) {
    const isPlausible = Number(text) >= earliestMs && Number(text) < latestMs;
    if (!isPlausible) throw reader.fail('expected milliseconds since 1970');
    return { kind: 'at', timeMs: reader.positiveNumber() };
  }
  if (reader.isName()) throw reader.unknown(`the time ${text}`);
  const ms = durationMs(reader);
  reader.expectWord('AGO');
  return { kind: 'ago', ms };
}

function limit(reader: NrqlReader): number {
  if (reader.takeWords('MAX')) return highestLimit;
  const wanted = reader.peek();
  if (wanted.kind === 'number' && Number(wanted.text) > highestLimit) {
    throw reader.fail(`a LIMIT is at most ${highestLimit}`);
  }
  return reader.positiveNumber();
}

function eventTypes(reader: NrqlReader): readonly string[] {
  const found: string[] = [];
  do {
    if (reader.peek().text === '(') throw reader.unknown('a query in a query');
    const call = reader.callAhead();
    if (call !== undefined) throw reader.unknown(`the function ${call} after FROM`);
    found.push(reader.attribute());
  } while (reader.takeSymbol(','));
  if (found.length > 1 && found.includes('Metric')) {
    throw reader.fail('timeslices stand in no query with other data');
  }
  return found;
}

/** The members of a row would overwrite each other. */
function checkNames(reader: NrqlReader, columns: readonly { readonly name: string }[]): void {
  const names = columns.map(({ name }) => name);
  if (new Set(names).size < names.length) throw reader.fail('a name is there twice');
}

function facets(reader: NrqlReader): readonly NrqlFacet[] {
  const found: NrqlFacet[] = [];
  do found.push(parseNrqlFacet(reader));
  while (reader.takeSymbol(','));
  if (found.length > mostFacets) throw reader.fail(`a FACET has at most ${mostFacets} attributes`);
  return found;
}

const clauseReaders: ReadonlyMap<string, (reader: NrqlReader) => Clauses> = new Map(
  Object.entries<(reader: NrqlReader) => Clauses>({
    SELECT: (reader) => ({ select: parseNrqlSelect(reader) }),
    FROM: (reader) => ({ eventTypes: eventTypes(reader) }),
    WHERE: (reader) => ({ where: parseNrqlCondition(reader) }),
    FACET: (reader) => ({ facets: facets(reader) }),
    LIMIT: (reader) => ({ limit: limit(reader) }),
    SINCE: (reader) => ({ since: moment(reader) }),
    UNTIL: (reader) => ({ until: moment(reader) }),
  }),
);

/** Keywords of the vendor that the simulated account does not have. */
const unsupported: ReadonlySet<string> = new Set(
  'TIMESERIES COMPARE ORDER OFFSET WITH JOIN INNER LEFT EXTRAPOLATE SLIDE PREDICT SHOW RAW'.split(
    ' ',
  ),
);

/** What goes on where a query could end: an operation, a member, or the arguments of a function. */
const continuing: ReadonlySet<string> = new Set(['+', '-', '*', '/', '[', '(', ':']);

/** Whether a query is `SHOW EVENT TYPES`. Throws `INVALID_INPUT` if it goes on with more than a time range. */
export function asksForEventTypes(text: string): boolean {
  const reader = createNrqlReader(text);
  if (!reader.takeWords('SHOW', 'EVENT', 'TYPES')) return false;
  while (reader.takeWords('SINCE') || reader.takeWords('UNTIL')) moment(reader);
  if (reader.peek().kind !== 'end') throw reader.fail('expected SINCE or UNTIL');
  return true;
}

function notAClause(reader: NrqlReader): Error {
  const { kind, text } = reader.peek();
  if (kind === 'word' && unsupported.has(text.toUpperCase())) {
    return reader.unknown(`the clause ${text.toUpperCase()}`);
  }
  const goesOn = kind === 'symbol' && continuing.has(text);
  return goesOn ? reader.unknown(`what '${text}' means here`) : reader.fail('expected a clause');
}

/**
 * Parses a query with clauses in any order, each at most once. Throws `INVALID_INPUT` for a mistake,
 * and
 * `NOT_SIMULATED` for what the simulator does not have, such as `TIMESERIES`.
 */
export function parseNrql(text: string): NrqlQuery {
  const reader = createNrqlReader(text);
  const seen = new Set<string>();
  let clauses: Clauses = {};
  while (reader.peek().kind !== 'end') {
    const keyword = reader.peek().text.toUpperCase();
    const readClause = reader.peek().kind === 'word' ? clauseReaders.get(keyword) : undefined;
    if (readClause === undefined) throw notAClause(reader);
    if (seen.has(keyword)) throw reader.fail('the clause is there twice');
    seen.add(keyword);
    reader.next();
    clauses = { ...clauses, ...readClause(reader) };
  }
  const { select, eventTypes: from, facets: by = [] } = clauses;
  if (select === undefined) throw reader.fail('SELECT is missing');
  if (from === undefined) throw reader.fail('FROM is missing');
  checkNames(reader, [...by, ...select]);
  return {
    select,
    eventTypes: from,
    where: clauses.where,
    facets: by,
    limit: clauses.limit ?? defaultLimit,
    since: clauses.since ?? { kind: 'ago', ms: defaultSinceMs },
    until: clauses.until ?? { kind: 'ago', ms: 0 },
  };
}
