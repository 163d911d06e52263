import { invalidInput } from './graphql.ts';
import { type NrqlCondition, parseNrqlCondition } from './nrql-condition.ts';
import {
  durationMs,
  type NrqlColumn,
  type NrqlFacet,
  parseNrqlFacet,
  parseNrqlSelect,
} from './nrql-expression.ts';
import { dataSources, NrqlReader } from './nrql-reader.ts';
import { dimensionalMetric } from './other-entities.ts';

/** An end of the time range. */
export type NrqlMoment =
  | { readonly kind: 'at'; readonly timeMs: number }
  | { readonly kind: 'ago'; readonly ms: number };

/** Windows of one length, one after the other. */
export interface NrqlTimeseries {
  readonly lengthMs: number;
  /** From the start of one window to that of the next. */
  readonly stepMs: number;
}

/** A query, with the defaults of the vendor. */
export interface NrqlQuery {
  readonly select: readonly NrqlColumn[];
  readonly eventTypes: readonly string[];
  readonly where: NrqlCondition | undefined;
  /** Empty without `FACET`. */
  readonly facets: readonly NrqlFacet[];
  readonly limit: number;
  readonly since: NrqlMoment;
  readonly until: NrqlMoment;
  /** Absent for one window. */
  readonly timeseries?: NrqlTimeseries | undefined;
}

const defaultLimit = 10;
const highestLimit = 5000;
const mostFacets = 5;
const defaultSinceMs = 3_600_000;

/** Seconds, microseconds and nanoseconds of our time are all outside. */
const earliestMs = Date.UTC(2001);
const latestMs = Date.UTC(2100);

/** Windows that a query may have. */
const mostWindows = 366;

/** The clauses of a query so far. */
type Clauses = { -readonly [Key in keyof NrqlQuery]?: NrqlQuery[Key] };

function moment(reader: NrqlReader): NrqlMoment {
  if (reader.takeWords('NOW')) return { kind: 'ago', ms: 0 };
  const { kind, text } = reader.peek();
  // Only a point in time has more than nine digits.
  if (kind === 'number' && text.length > 9) {
    const isPlausible = Number(text) >= earliestMs && Number(text) < latestMs;
    if (!isPlausible) throw reader.fail('expected milliseconds since 1970');
    return { kind: 'at', timeMs: reader.positiveNumber() };
  }
  if (kind !== 'number') throw reader.unknown(`the time ${text}`);
  const ms = durationMs(reader);
  reader.expectWord('AGO');
  return { kind: 'ago', ms };
}

/** A length of time, with a unit or in milliseconds. */
function windowMs(reader: NrqlReader): number {
  const { kind, text } = reader.peek();
  return kind === 'number' && text.length > 4 ? reader.positiveNumber() : durationMs(reader);
}

function timeseries(reader: NrqlReader): NrqlTimeseries {
  const lengthMs = windowMs(reader);
  return { lengthMs, stepMs: reader.takeWords('SLIDE', 'BY') ? windowMs(reader) : lengthMs };
}

function eventTypes(reader: NrqlReader): readonly string[] {
  const found: string[] = [];
  do {
    if (reader.peek().text === '(' || reader.callAhead() !== undefined) {
      throw reader.unknown('a query or a table after FROM');
    }
    found.push(reader.expectOne(['word', 'name'], 'a type of events'));
  } while (reader.takeSymbol(','));
  if (found.length > 1 && found.includes('Metric')) {
    throw reader.fail('timeslices stand in no query with other data');
  }
  return reader.isOfDimensions && found.includes('Metric') ? [dimensionalMetric] : found;
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
    LIMIT: (reader) => ({
      limit: reader.takeWords('MAX') ? highestLimit : reader.positiveNumber(highestLimit),
    }),
    SINCE: (reader) => ({ since: moment(reader) }),
    UNTIL: (reader) => ({ until: moment(reader) }),
    TIMESERIES: (reader) => ({ timeseries: timeseries(reader) }),
  }),
);

/** Keywords of the vendor that the simulated account does not have. */
const unsupported: ReadonlySet<string> = new Set(
  'COMPARE ORDER OFFSET WITH JOIN INNER LEFT EXTRAPOLATE SLIDE PREDICT SHOW RAW'.split(' '),
);

function notAClause(reader: NrqlReader): Error {
  const { kind, text } = reader.peek();
  // What goes on is an operation, a member, or the arguments of a function.
  const isBeyond = kind === 'word' ? unsupported.has(text.toUpperCase()) : '+-*/[(:'.includes(text);
  return isBeyond ? reader.unknown(`what '${text}' means here`) : reader.fail('expected a clause');
}

/**
 * Parses a query with clauses in any order, each at most once. Throws `INVALID_INPUT` for a mistake,
 * and `NOT_SIMULATED` for what the simulator does not have, such as `COMPARE WITH`.
 */
export function parseNrql(text: string): NrqlQuery {
  const reader = new NrqlReader(text);
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
  const names = [...by, ...select].map(({ name }) => name);
  // The members of a row would overwrite each other.
  if (new Set(names).size < names.length) throw reader.fail('a name is there twice');
  return {
    select,
    eventTypes: from,
    where: clauses.where,
    facets: by,
    limit: clauses.limit ?? defaultLimit,
    since: clauses.since ?? { kind: 'ago', ms: defaultSinceMs },
    until: clauses.until ?? { kind: 'ago', ms: 0 },
    timeseries: clauses.timeseries,
  };
}

/** The point in time, as the epoch counts. */
export function nrqlTimeOf(at: NrqlMoment, nowMs: number): number {
  return at.kind === 'at' ? at.timeMs : nowMs - at.ms;
}

/**
 * Throws `INVALID_INPUT` for a query that can be read and makes no sense: without a source of its data, or
 * about no time at all.
 */
export function checkNrql(query: NrqlQuery, nowMs: number): void {
  const named = [...query.facets.map(({ text }) => text), ...(query.where?.attributes ?? [])];
  const isOfMetrics = query.eventTypes.includes('Metric');
  if (isOfMetrics && !named.some((name) => dataSources.includes(name))) {
    throw invalidInput(`NRQL Syntax Error: timeslices need one of ${dataSources.join(', ')}`);
  }
  const lengthMs = nrqlTimeOf(query.until, nowMs) - nrqlTimeOf(query.since, nowMs);
  if (lengthMs <= 0) throw invalidInput('NRQL Syntax Error: SINCE must be before UNTIL');
  if (lengthMs > mostWindows * (query.timeseries?.stepMs ?? lengthMs)) {
    throw invalidInput(`NRQL Syntax Error: TIMESERIES has more than ${mostWindows} buckets`);
  }
}
