import { ApiError, type FailureReason } from '../../model/api-error.ts';
import { own } from '../../model/own.ts';
import { entityIdOf, type JsonObject, objectOf } from '../../newrelic/answer.ts';
import type { ApiResponse } from '../../newrelic/calls/transport.ts';
import { meanings } from '../../newrelic/failures.ts';
import { shapeOf } from '../../newrelic/nerdgraph/nrql-answer.ts';
import type { Asked, Call } from './calls.ts';

/** An answer that says something. */
export interface FactAnswer extends Omit<ApiResponse, 'body'> {
  /** The lists of applications come first, and so without one. */
  readonly asked: Asked;
  /** When it came, by the clock of this machine. */
  readonly atMs: number;
  /** Of NerdGraph only what was asked for. */
  readonly document: unknown;
  /** The list in it, whatever it lists. */
  readonly items: readonly JsonObject[];
  /** New Relic's words, or those of whatever is between, if it is refused. */
  readonly said: string;
}

/** Why there is no answer that says anything. */
export interface Silence {
  readonly why: string;
  readonly reason?: FailureReason | undefined;
}

/** What became of each call, by its name. */
export type Results = ReadonlyMap<string, FactAnswer | Silence>;

export interface Seen {
  readonly verdict: 'holds' | 'differs' | 'cannot tell';
  /** For everybody: of a foreign text it has nothing but what is known to be New Relic's. */
  readonly text: string;
}

/** What the answers to the calls of a fact say of it. */
export type See = (...answers: readonly FactAnswer[]) => Seen;

/** Something that the exporter believes of New Relic. Reports, documents and tests name it by its id. */
export interface Fact {
  readonly id: string;
  readonly fact: string;
  /** D: New Relic's documents. V: its code. C: seen by others. I: concluded. U: unknown. */
  readonly source: string;
  /** How a daemon notices at run time that reality differs. */
  readonly sign: string;
  /** What it means for the exporter if reality differs, and what to do now. */
  readonly differs: string;
  readonly calls: readonly (Call & { readonly isNeeded: boolean })[];
  readonly see: See;
}

export function judged({ calls, see }: Fact, results: Results): Seen {
  const answers: FactAnswer[] = [];
  for (const { name, special, isNeeded } of calls) {
    const result = results.get(name) ?? { why: 'it was not asked' };
    if (!isNeeded && ('why' in result || result.status >= 400)) break;
    if ('why' in result) return seen(undefined, result.why);
    if (result.status >= 400 && !special.endsWith('refused')) return refused(false, result);
    answers.push(result);
  }
  try {
    return see(...answers);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return seen(undefined, `an answer cannot be read (${error.reason})`);
  }
}

/** @param isSo `undefined` if that cannot be told, also because what it would follow from is not there */
export function seen(isSo: boolean | undefined, text: string): Seen {
  const verdict = isSo === undefined ? 'cannot tell' : isSo ? 'holds' : 'differs';
  return { verdict, text };
}

export function refused(isSo: boolean, { status, said }: FactAnswer, before = ''): Seen {
  const known = meanings.flatMap(([, words]) => words.exec(said)?.[0] ?? []);
  const text = known.length === 0 ? '' : `: ${[...new Set(known)].join(', ')}`;
  return seen(isSo, `${before}refused with status ${status}${text}`);
}

/** Whether it is so of each, with the form of one that is otherwise, or else of the first. */
export function each<Item>(items: readonly Item[], isSo: (item: Item) => boolean): Seen {
  const others = items.filter((item) => !isSo(item));
  const [shown] = [...others, ...items];
  if (shown === undefined) return seen(undefined, 'there is none');
  return seen(
    others.length === 0,
    `${others.length} of ${items.length} otherwise: ${formOf(shown)}`,
  );
}

/** Members that New Relic's documents name, or the exporter's own queries. */
const publicMember =
  /^(?:\d{1,3}|c\d{1,3}|appId|apmSummary|application_summary|beginTimeSeconds|calls|count|endTimeSeconds|eventType|facet|from|guid|host|id|key|links|live|metadata|name|none|noTime|otherResult|reporting|results|score|tags|to|totalResult|values?)$/u;

/** The types of the members, with the names of those that are public: others may be anybody's. */
function formOf(value: unknown): string {
  const members = Object.entries(objectOf(value)).map(([name, member]) => {
    return [publicMember.test(name) ? name : '…', member] as const;
  });
  return members.length === 0 ? typeof value : shapeOf(Object.fromEntries(members));
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
