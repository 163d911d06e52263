import { ApiError } from '../../model/api-error.ts';
import { own } from '../../model/own.ts';
import { hourMs, minuteMs } from '../../model/time.ts';
import { entityIdOf, type JsonObject, objectOf } from '../../newrelic/answer.ts';
import type { ApiRequest, ApiResponse } from '../../newrelic/calls/transport.ts';
import { shapeOf } from '../../newrelic/nerdgraph/nrql-answer.ts';

/** What an account may lack, and what a report says then. */
export const lacking = {
  applicationId: 'no selected application on the first page of the list reports',
  otherId: 'there is no second application that reports',
  name: 'no application on the first page of the list has a name without quotes',
  otherName: 'there is no second such name',
  hostId: 'REST lists no host of the application',
  page: 'the list has one page',
  cursor: 'the list has one page',
} as const;

/** What is asked about: ids and the like, each an empty text where the account lacks it. */
export type Asked = Readonly<Record<keyof typeof lacking | 'accountId', string>> & {
  /** The end of half an hour of whole minutes that New Relic has had for a while. */
  readonly toMs: number;
  /** What NerdGraph may take for a query. */
  readonly timeoutSeconds: number;
};

/** One request. Facts that have a call in common share its answer. */
export interface Call {
  readonly name: string;
  readonly api: 'rest' | 'nerdgraph';
  /** What is asked for, with what it is about in braces. */
  readonly text: string;
  /**
   * `other header`: that in which the key is not configured; `must be refused`: whatever its failure is, it tells.
   * Without anything, a refusal contradicts the facts.
   */
  readonly special: string;
  readonly request: (text: string, asked: Asked) => ApiRequest;
}

/** An answer that says something. */
export interface Answer extends Omit<ApiResponse, 'body'> {
  /** The lists of applications come first, and so without one. */
  readonly asked: Asked;
  /** When it came, by the clock of this machine. */
  readonly atMs: number;
  /** Of NerdGraph only what was asked for. */
  readonly document: unknown;
  /** The list in it, whatever it lists. */
  readonly items: readonly JsonObject[];
  /** New Relic's words, if it is refused. */
  readonly said: string;
}

/** What became of each call, by its name: its answer, or why there is none. */
export type Results = ReadonlyMap<string, Answer | string>;

export interface Seen {
  readonly verdict: 'holds' | 'differs' | 'cannot tell';
  /** Without anything that names somebody's systems. */
  readonly text: string;
  /** What New Relic says, which may name them. */
  readonly said: string;
}

/** What the answers to the calls of a fact say of it. */
export type See = (...answers: readonly Answer[]) => Seen;

/** Something that the exporter believes of New Relic. */
export interface Fact {
  /** Reports, documents and tests name it. */
  readonly id: string;
  /** The sentence: what is expected. */
  readonly fact: string;
  /** D: New Relic's documents. V: its code. C: seen by others. I: concluded. U: unknown. */
  readonly source: string;
  /** How a daemon notices at run time that reality differs. */
  readonly sign: string;
  /** What it means for the exporter if reality differs, and what to do now. */
  readonly differs: string;
  /** `undefined` if no call can ask it without harm. */
  readonly check: { readonly calls: readonly Call[]; readonly see: See } | undefined;
}

/** The cells of a Markdown table without a head. */
function rowsOf(table: string): readonly (readonly string[])[] {
  const lines = table.trim().split('\n');
  return lines.map((line) => line.split('|').map((cell) => cell.trim()));
}

/** Calls from rows of a name, a text, and what is special about them. */
export function callsOf(
  table: string,
  api: Call['api'],
  request: Call['request'],
): readonly Call[] {
  return rowsOf(table).map(([, name = '', text = '', special = '']) => {
    return { name, api, text, special, request };
  });
}

/**
 * Facts from rows, which end with the names of their calls. What is seen goes by the id, or by what follows its
 * first word; else it is enough that the calls are accepted.
 */
export function factsOf(
  table: string,
  calls: readonly Call[],
  sees: Readonly<Record<string, See>>,
): readonly Fact[] {
  return rowsOf(table).map((cells) => {
    const [, id = '', fact = '', source = '', sign = '', differs = '', names = ''] = cells;
    const asked = names.split('; ').map((name) => calls.find((one) => one.name === name));
    const known = asked.filter((call) => call !== undefined);
    if (names !== '' && known.length < asked.length)
      throw new Error(`${id} has a call without a row`);
    const see = own(sees, id) ?? own(commonSees, id.replace(/^\w+-/u, '')) ?? accepted;
    const check = known.length === 0 ? undefined : { calls: known, see };
    return { id, fact, source, sign, differs, check };
  });
}

function accepted(): Seen {
  return seen(true, 'accepted');
}

const commonSees: Readonly<Record<string, See>> = {
  'key-header': (other) => (other.status < 400 ? seen(true, 'in both') : refused(false, other)),
  date: ({ headers, atMs }) => {
    const aheadMs = atMs - Date.parse(String(headers['date']));
    if (Number.isNaN(aheadMs)) return seen(false, 'no Date');
    return seen(true, `the clock here is ahead by ${Math.round(aheadMs / 1000)} s`);
  },
  ids: ({ items, asked: { applicationId, otherId } }) => {
    const found = new Set(items.map(idOf));
    const isSo = found.size === 2 && found.has(applicationId) && found.has(otherId);
    return seen(isSo, `${items.length} are found`);
  },
};

/** The text of a call with what it is about, as far as there is that; `{to-30}` is in minutes, `{hour-24}` in whole hours. */
export function filled({ api, text }: Call, asked: Asked): string {
  const timeText = (ms: number): string =>
    api === 'rest'
      ? encodeURIComponent(new Date(ms).toISOString().replace('.000Z', 'Z'))
      : String(ms);
  return text.replaceAll(/\{(\w+)(?:-([\d.]+))?\}/gu, (place, name: string, ago = '0') => {
    if (name === 'to') return timeText(asked.toMs - Number(ago) * minuteMs);
    if (name === 'hour') return timeText((Math.floor(asked.toMs / hourMs) - Number(ago)) * hourMs);
    const known = String(own(asked, name) ?? '');
    return known === '' ? place : known;
  });
}

export function judged({ calls, see }: NonNullable<Fact['check']>, results: Results): Seen {
  const answers: Answer[] = [];
  for (const { name, special } of calls) {
    const result = results.get(name) ?? 'it was not asked';
    if (typeof result === 'string') return seen(undefined, result);
    if (result.status >= 400 && special === '') return refused(false, result);
    answers.push(result);
  }
  try {
    return see(...answers);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return seen(undefined, `an answer cannot be read (${error.reason})`);
  }
}

/** @param isSo `undefined` if that cannot be told */
export function seen(isSo: boolean | undefined, text: string, said = ''): Seen {
  const verdict = isSo === undefined ? 'cannot tell' : isSo ? 'holds' : 'differs';
  return { verdict, text, said };
}

export function refused(isSo: boolean, { status, said }: Answer, before = ''): Seen {
  return seen(isSo, `${before}refused with status ${status}`, said);
}

/** Whether it is so of each, with the form of one that is otherwise, or else of the first. */
export function each<Item>(items: readonly Item[], isSo: (item: Item) => boolean): Seen {
  const others = items.filter((item) => !isSo(item));
  const [shown] = [...others, ...items];
  if (shown === undefined) return seen(undefined, 'there is none');
  return seen(others.length === 0, `${others.length} of ${items.length} otherwise`, shapeOf(shown));
}

/** A member of a document by its path, such as `links.application_hosts`; `undefined` if it is not there. */
export function at(document: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => own(objectOf(value), name), document);
}

/** The same of a list of objects; empty if there is none. */
export function listAt(document: unknown, path: string): readonly JsonObject[] {
  const list = at(document, path);
  return Array.isArray(list) ? list.map(objectOf) : [];
}

/** A number that an answer has, perhaps as a text; else `NaN`. */
export function numberIn(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

/** The id of an application or of a host; empty if there is none. */
export function idOf(item: JsonObject): string {
  return entityIdOf(item['id'] ?? item['applicationId']) ?? '';
}
