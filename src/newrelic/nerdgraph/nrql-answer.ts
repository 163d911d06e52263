import type { QueryFacet } from '../../model/config.ts';
import { own } from '../../model/own.ts';
import { dayMs, hourMs, minuteMs } from '../../model/time.ts';
import { isAboutWindow, type TimeWindow } from '../../model/window.ts';
import {
  entityIdOf,
  excerptOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  objectOf,
  type UnexpectedAnswers,
} from '../answer.ts';
import { failureOf, type NerdGraphPurpose, notWhole } from '../failures.ts';
import { type MetricQuestion, maxRows } from './nrql.ts';
import type { Cell } from './nrql-values.ts';

export interface FacetRow {
  readonly applicationId: string;
  /** `undefined` if the query does not ask for hosts. */
  readonly host: string | undefined;
  /** Of all metrics together. */
  readonly calls: number;
  /** Whether the heartbeat was among them. */
  readonly isLive: boolean;
  /** One for each column that the query asks for beside. */
  readonly cells: readonly Cell[];
}

/** The whole answer to one query. */
export interface NrqlAnswer {
  readonly rows: readonly FacetRow[];
  /** What the rows are about; New Relic may have moved the ends of the window that was asked for. */
  readonly window: TimeWindow;
}

/** What was asked, and so what an answer must be about. */
export interface WindowReading {
  readonly purpose: NerdGraphPurpose;
  /** The window that was asked for. */
  readonly window: TimeWindow;
  /** Whether something in it grows with the window, such as a count. */
  readonly needsLength: boolean;
  readonly unexpected: UnexpectedAnswers;
  readonly onInvalid: InvalidSampleListener;
}

/** The same of a query about applications. */
export interface NrqlReading extends WindowReading, MetricQuestion {
  readonly asksFor: (host: string) => boolean;
  /** Whether the other answers of the poll are about this window, too. */
  readonly mayBeAbout: (window: TimeWindow) => boolean;
}

/**
 * Reads the value of `nrql`. Throws an `ApiError` unless the answer is whole and answers this question:
 * one answer stands for up to 200 applications, and what is missing of it looks like what is gone.
 */
export function nrqlAnswerOf(part: unknown, reading: NrqlReading): NrqlAnswer {
  const answer = objectOf(part);
  const { results, window } = resultsIn(answer, attributes(reading.facets), reading);
  const rows = rowsOf(results, reading);
  const others = checkSum(answer, 'calls', 0, reading);
  if (results.length >= maxRows || others > 0) {
    const detail = `the answer has ${results.length} rows, and there are more`;
    throw failureOf(reading.purpose, 'too_large', detail);
  }
  if (!reading.mayBeAbout(window)) {
    throw notWhole(reading.purpose, 'the answer is about another time than others of this poll');
  }
  const hasHosts = reading.facets.length > 1;
  return { rows: rows.filter(({ host }) => !hasHosts || host !== undefined), window };
}

/** What rows are grouped by: of an attribute New Relic repeats the name, of anything else it is not known how. */
type StatedFacet = Pick<QueryFacet, 'name' | 'isAttribute'>;

function attributes(names: readonly string[]): readonly StatedFacet[] {
  return names.map((name) => ({ name, isAttribute: true }));
}

/** Of one answer. */
const mostNotices = 10;

/**
 * The rows of the value of `nrql`, what they are about, and New Relic's notices on them. Throws an `ApiError` if
 * there are none, or if they are grouped by something else or about another time than was asked for.
 */
export function resultsIn(
  { results, metadata }: JsonObject,
  facets: readonly StatedFacet[],
  reading: WindowReading,
): {
  readonly results: readonly unknown[];
  readonly window: TimeWindow;
  readonly notices: readonly string[];
} {
  if (!Array.isArray(results)) throw notWhole(reading.purpose, 'the answer has no list of results');
  const { messages, facets: stated, timeWindow } = objectOf(metadata);
  // They stay as long as the values.
  const notices = (Array.isArray(messages) ? messages.slice(0, mostNotices) : [])
    .map((message) => excerptOf(rowText(message)))
    .filter((notice) => notice !== '');
  for (const notice of notices) reading.unexpected.noticed(notice, reading.purpose.operation);
  const names: unknown = stated ?? [];
  const isGroupedSo =
    Array.isArray(names) &&
    names.length === facets.length &&
    facets.every(({ name, isAttribute }, index) => !isAttribute || names[index] === name);
  if (!isGroupedSo) {
    throw notWhole(reading.purpose, 'the answer is grouped by something else than was asked for');
  }
  return { results, window: statedWindow(timeWindow, reading), notices };
}

/** What a row is about, as often as was asked for; `undefined` if it is about something else. */
export function facetValuesOf(
  row: JsonObject,
  facets: readonly StatedFacet[],
): readonly unknown[] | undefined {
  const stated = own(row, 'facet');
  if (facets.length === 0) return (stated ?? undefined) === undefined ? [] : undefined;
  const members = facets.map(({ name }) => own(row, name));
  if (stated === undefined) return members.includes(undefined) ? undefined : members;
  // The value of a single facet may be a list itself.
  const isOne = facets.length === 1 && Array.isArray(members[0]);
  const isList = !isOne && Array.isArray(stated) && stated.length === facets.length;
  const values: readonly unknown[] = isList ? stated : [stated];
  const areAlike = facets.every(
    ({ isAttribute }, index) =>
      !isAttribute || members[index] === undefined || isSameValue(members[index], values[index]),
  );
  return values.length === facets.length && areAlike ? values : undefined;
}

/** Numbers come as texts, too, and may be written in another way, such as 1 and `1.0`. */
function isSameValue(left: unknown, right: unknown): boolean {
  if (rowText(left) === rowText(right)) return true;
  const number = numberOf(left);
  return number !== undefined && number === numberOf(right);
}

/** Ids, for example, come as numbers and as texts. */
export function rowText(value: unknown): string {
  return typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);
}

/**
 * What rows and all others say adds up to what New Relic has counted: then none is missing. Gives that of the others.
 *
 * @param member of the rows, the others and the total: a count or a sum
 * @param mostShare by which a sum of fractions may differ
 */
export function checkSum(
  { results, otherResult, totalResult }: JsonObject,
  member: string,
  mostShare: number,
  { purpose }: Pick<WindowReading, 'purpose'>,
  remedy?: string,
): number {
  const rows: readonly unknown[] = Array.isArray(results) ? results : [];
  const amountIn = (result: unknown): number | undefined => numberOf(own(objectOf(result), member));
  const others = amountIn(otherResult) ?? 0;
  const amounts = [others, ...rows.map((row) => amountIn(row) ?? 0)];
  const sum = amounts.reduce((all, amount) => all + amount, 0);
  // There is no total of nothing.
  const total = amountIn(totalResult) ?? (sum === 0 ? 0 : undefined);
  if (total === undefined) {
    throw notWhole(purpose, 'the answer does not say what it adds up to', remedy);
  }
  const size = amounts.reduce((all, amount) => all + Math.abs(amount), 0);
  if (Math.abs(sum - total) <= mostShare * size) return others;
  const problem = sum < total ? 'parts of the answer are missing' : 'the answer has too much';
  throw notWhole(purpose, `${problem}: it adds up to ${sum} of ${total}`, remedy);
}

function rowsOf(results: readonly unknown[], reading: NrqlReading): readonly FacetRow[] {
  const asked = new Set(reading.applicationIds);
  const seen = new Set<string>();
  return results.map((result) => {
    const row = facetRow(result, reading);
    const { applicationId, host = '' } = row;
    const key = `${applicationId}\n${host}`;
    if (!asked.has(applicationId) || (host !== '' && !reading.asksFor(host))) {
      throw notWhole(reading.purpose, 'the answer has a row that was not asked for');
    }
    if (seen.has(key)) throw notWhole(reading.purpose, 'the answer has two rows for the same');
    seen.add(key);
    return row;
  });
}

function facetRow(row: unknown, reading: NrqlReading): FacetRow {
  const { facets, unexpected } = reading;
  const calls = isJsonObject(row) ? numberOf(row['calls']) : undefined;
  const groups = isJsonObject(row) ? facetValuesOf(row, attributes(facets)) : undefined;
  const applicationId = entityIdOf(groups?.[0]);
  const isReadable = applicationId !== undefined && calls !== undefined && calls >= 0;
  if (!isJsonObject(row) || groups === undefined || !isReadable) {
    throw notWhole(reading.purpose, `the answer has a row that cannot be read (${shapeOf(row)})`);
  }
  const [, host] = groups;
  const values = { applicationId, calls, ...columnsIn(row, reading) };
  if (typeof host === 'string' && host !== '') return { ...values, host };
  if (facets.length > 1) unexpected.saw('host_null', { app_id: applicationId });
  return { ...values, host: undefined };
}

function columnsIn(
  row: JsonObject,
  { columns, unexpected, onInvalid }: NrqlReading,
): Pick<FacetRow, 'isLive' | 'cells'> {
  const names = columns.map(({ name }) => name);
  const isWhole = ['live', ...names].every((name) => own(row, name) !== undefined);
  if (!isWhole) unexpected.saw('row', { row: shapeOf(row) });
  return {
    isLive: (cellOf(row['live'], onInvalid) ?? 0) > 0,
    cells: names.map((name) => cellOf(own(row, name), onInvalid)),
  };
}

/** A column that is not there at all is not one in which there is nothing. */
export function cellOf(value: unknown, onInvalid: InvalidSampleListener): Cell {
  if (value === null || value === undefined) return value;
  const number = numberOf(value);
  if (number === undefined) onInvalid(typeof value === 'number' ? 'not_finite' : 'not_a_number');
  return number;
}

/** New Relic writes some numbers as texts. */
function numberOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(value);
  const number = isText ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The members of a row and their types: its values may be anybody's. */
export function shapeOf(row: unknown): string {
  if (!isJsonObject(row)) return typeof row;
  return Object.entries(row)
    .slice(0, 10)
    .map(([name, value]) => `${name.slice(0, 40)}: ${value === null ? 'null' : typeof value}`)
    .join(', ');
}

/**
 * The longest step of New Relic's roll-ups for a window of this length. Documented are 5 minutes for one just
 * below two days and, of samples of infrastructure, 10 minutes above 6 hours, an hour from 3 days and three
 * hours from 14. The rest is assumed.
 */
function rollupStepMs({ fromMs, toMs }: TimeWindow): number {
  const lengthMs = toMs - fromMs;
  if (lengthMs < 2 * dayMs) return (lengthMs > 6 * hourMs ? 10 : 5) * minuteMs;
  return lengthMs < 14 * dayMs ? hourMs : 3 * hourMs;
}

/** The window that an answer states. Each end may have been moved by one step. */
function statedWindow(stated: unknown, reading: WindowReading): TimeWindow {
  const { window, unexpected, needsLength } = reading;
  const timeWindow = objectOf(stated);
  const fromMs = numberOf(timeWindow['begin']);
  const toMs = numberOf(timeWindow['end']);
  if (fromMs === undefined || toMs === undefined) {
    throw notWhole(reading.purpose, 'the answer does not say which time it is about');
  }
  if (fromMs === window.fromMs && toMs === window.toMs) return window;
  const isOfMinutes =
    (fromMs - window.fromMs) % minuteMs === 0 && (toMs - window.toMs) % minuteMs === 0;
  const tolerance = { mostMovedMs: rollupStepMs(window), needsLength };
  if (fromMs >= toMs || !isOfMinutes || !isAboutWindow({ fromMs, toMs }, window, tolerance)) {
    const [answered, asked] = [{ fromMs, toMs }, window].map(windowText);
    throw notWhole(reading.purpose, `the answer is about another time: ${answered}, not ${asked}`);
  }
  unexpected.saw('window', { asked: window, answered: { fromMs, toMs } });
  return { fromMs, toMs };
}

function windowText({ fromMs, toMs }: TimeWindow): string {
  return [fromMs, toMs].map(isoTime).join(' to ');
}

/** Whatever number an answer has. */
function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}
