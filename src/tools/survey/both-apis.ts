import type { AccountConfig, AccountInUse, AccountSource } from '../../model/config.ts';
import type { Unit } from '../../model/vendor-value.ts';

export const bothApis = ['rest', 'nerdgraph'] as const;
export type Api = (typeof bothApis)[number];
/** The same of each API of New Relic. */
export type OfBoth<Value> = Readonly<Record<Api, Value>>;
export const apiNames: OfBoth<string> = { rest: 'REST', nerdgraph: 'NerdGraph' };

export function ofBoth<Value>(of: (api: Api) => Value): OfBoth<Value> {
  return { rest: of('rest'), nerdgraph: of('nerdgraph') };
}

/** What the REST API and NerdGraph take without harm, for an account that has limits for the other one. */
const restRequestsPerMinute = 800;
const nerdgraphConcurrency = 5;

/** The account with each API that can be asked, paced by its budget: NerdGraph must be told the account. */
export function withEachApi({ account, entries }: AccountInUse): readonly AccountInUse[] {
  const { accountId } = account.source;
  const sources: AccountSource[] = [{ kind: 'rest', accountId }];
  if (accountId !== undefined) sources.push({ kind: 'nerdgraph', accountId });
  return sources.map((source) => ({ account: withSource(account, source), entries }));
}

/** The account with this API, paced by its budget. */
export function withSource(account: AccountConfig, source: AccountSource): AccountConfig {
  if (account.source.kind === source.kind) return account;
  const requestsPerMinute = Math.min(account.requestsPerMinute, restRequestsPerMinute);
  const concurrency = Math.min(account.concurrency, nerdgraphConcurrency);
  return source.kind === 'rest'
    ? { ...account, source, requestsPerMinute }
    : { ...account, source, concurrency };
}

/** What both APIs have of one value. In REST several hosts may have the same name. */
export interface BothValues extends OfBoth<readonly number[]> {
  /** Whether REST was asked not to round. */
  readonly raw: boolean;
  readonly unit: Unit;
}

/** What the two APIs say of one value. */
export type Verdict =
  /** The same, as far as the rounding of REST shows. */
  | 'equal'
  /** 0 in one and absent in the other: nothing happened. */
  | 'idle'
  | 'differs'
  | 'only REST'
  | 'only NerdGraph';

/** `undefined` if neither API has a value. */
export function verdictOf({ rest, nerdgraph, raw, unit }: BothValues): Verdict | undefined {
  const restSum = totalOf(rest);
  const nerdgraphSum = totalOf(nerdgraph);
  if (restSum === undefined && nerdgraphSum === undefined) return undefined;
  if (nerdgraphSum === undefined) return restSum === 0 ? 'idle' : 'only REST';
  if (restSum === undefined) return nerdgraphSum === 0 ? 'idle' : 'only NerdGraph';
  const rounding = raw ? 0 : rest.reduce((sum, value) => sum + roundingOf(value, unit), 0);
  const tolerance = rounding + floatSlack * Math.max(1, restSum);
  return Math.abs(nerdgraphSum - restSum) <= tolerance ? 'equal' : 'differs';
}

/** Much less than one call in a day, and much more than the error of adding. */
const floatSlack = 1e-6;

/** `undefined` of no numbers: the API has no value. */
export function totalOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}

/** REST rounds to this many digits. */
const significantDigits = 3;
/** Of a ratio REST may show two decimals only. */
const roundedRatio = 0.005;
/** The most that three digits can be off. They are digits of MiB, so bytes do not show which. */
const roundedShare = 0.005;

/** How far a rounded value may be from the true one: half a unit of its last significant digit. */
function roundingOf(value: number, unit: Unit): number {
  if (unit === 'bytes') return roundedShare * value;
  const exponent = Number(value.toExponential().split('e')[1]);
  const ofDigits = value === 0 ? 0 : 0.5 * 10 ** (exponent - significantDigits + 1);
  return unit === 'ratio' ? Math.max(roundedRatio, ofDigits) : ofDigits;
}
