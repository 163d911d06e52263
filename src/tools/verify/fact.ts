import { ApiError } from '../../model/api-error.ts';
import { own } from '../../model/own.ts';
import { onOneLine } from '../../model/shown-text.ts';
import type { TimeWindow } from '../../model/window.ts';
import { isJsonObject, type JsonObject, objectOf } from '../../newrelic/answer.ts';
import type { ApiRequest, ApiResponse } from '../../newrelic/calls/transport.ts';
import { answeredPartOf, graphqlErrorsOf } from '../../newrelic/nerdgraph/failures.ts';

/** What calls need of an account, and what a report says if the account lacks it. */
export const needs = {
  accountId: 'NerdGraph was not asked: the account has no account_id in the configuration',
  applicationId: 'no selected application on the first page of the list reports',
  otherId: 'there is no second application',
  hostId: 'REST lists no host of the application',
  page: 'the list has one page',
  cursor: 'the list has one page',
} as const;
export type Need = keyof typeof needs;

/** What is asked about: an id, a name or the like for each need; empty where the account lacks it. */
export interface Asked extends Readonly<Record<Need, string>> {
  /** Half an hour of whole minutes that New Relic has had for a while. */
  readonly window: TimeWindow;
  /** What NerdGraph may take for a query. */
  readonly timeoutSeconds: number;
}

/** One request. Facts that have a call in common share its answer. */
export interface Call {
  readonly name: string;
  readonly api: 'rest' | 'nerdgraph';
  readonly needs: readonly Need[];
  /** Whether the key is sent in the header that is not configured. */
  readonly otherHeader?: true;
  readonly request: (asked: Asked) => ApiRequest;
}

/** An answer that says something: a good one, or a refusal of what was asked for. */
export interface Answer extends Pick<ApiResponse, 'status' | 'headers'> {
  readonly document: JsonObject;
  /** When it came, by the clock of this machine. */
  readonly atMs: number;
}

/** What became of each call: its answer, or why there is none. */
export type Results = ReadonlyMap<Call, Answer | string>;

/** What was seen, without anything that names somebody's systems. */
export interface Seen {
  readonly verdict: 'holds' | 'differs' | 'cannot tell';
  readonly text: string;
}

export interface Check {
  readonly calls: readonly Call[];
  /** @param answers one for each call, in their order */
  readonly see: (answers: readonly Answer[], asked: Asked) => Seen;
  /** Whether `see` is for refusals, too; else they contradict the fact. */
  readonly seesRefusals: boolean;
}

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
  readonly check: Check | undefined;
}

/** Facts from the rows of a Markdown table, each with its check. */
export function factsOf(table: string, checks: Readonly<Record<string, Check>>): readonly Fact[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [, id = '', fact = '', source = '', sign = '', differs = ''] = line
        .split('|')
        .map((text) => text.trim());
      return { id, fact, source, sign, differs, check: own(checks, id) };
    });
}

export function check(calls: readonly Call[], see: Check['see'], seesRefusals = false): Check {
  return { calls, see, seesRefusals };
}

export function seen(isSo: boolean, text: string): Seen {
  return { verdict: isSo ? 'holds' : 'differs', text };
}

export function unclear(text: string): Seen {
  return { verdict: 'cannot tell', text };
}

/** A member of a document, however deep; `undefined` if it is not there. */
export function at(document: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, step) => {
    if (Array.isArray(value)) return typeof step === 'number' ? value.at(step) : undefined;
    return isJsonObject(value) ? own(value, String(step)) : undefined;
  }, document);
}

/** The same of a list; empty if there is none. */
export function listAt(document: unknown, ...path: readonly (string | number)[]): JsonObject[] {
  const list = at(document, ...path);
  return Array.isArray(list) ? list.map(objectOf) : [];
}

/** The value of `nrql` or of a search. */
export function partOf(answer: Answer | undefined): JsonObject {
  return objectOf(answeredPartOf(answer?.document));
}

export function rowsOf(answer: Answer | undefined): JsonObject[] {
  return listAt(partOf(answer), 'results');
}

/** A refusal without numbers and quoted texts, which may be somebody's. */
export function refusalOf({ status, document }: Answer): string {
  const [error] = graphqlErrorsOf(document).errors;
  const said = error?.message ?? String(at(document, 'error', 'title') ?? '');
  const text = said.replaceAll(/'[^']*'|"[^"]*"|`[^`]*`|\d{4,}/gu, '…');
  return `refused with status ${status}${said === '' ? '' : `: ${onOneLine(text, 120)}`}`;
}

export function judged({ calls, see, seesRefusals }: Check, results: Results, asked: Asked): Seen {
  const answers: Answer[] = [];
  for (const call of calls) {
    const result = results.get(call) ?? 'it was not asked';
    if (typeof result === 'string') return unclear(result);
    if (result.status >= 400 && !seesRefusals) return seen(false, refusalOf(result));
    answers.push(result);
  }
  try {
    return see(answers, asked);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return unclear(`an answer cannot be read (${error.reason})`);
  }
}
