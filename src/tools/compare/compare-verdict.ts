import type { Unit } from '../../model/vendor-value.ts';

/** What the two APIs of the vendor say of one value. */
export const verdicts = [
  /** The same, as far as the rounding of REST shows. */
  'equal',
  /** 0 in one and absent in the other: nothing happened. */
  'idle',
  'differs',
  'only REST',
  'only NerdGraph',
  /** A call failed. */
  'not read',
] as const;
export type Verdict = (typeof verdicts)[number];

/** The verdicts that speak against a switch. */
export const disagreements = ['differs', 'only REST', 'only NerdGraph'] as const;
export type Disagreement = (typeof disagreements)[number];

/** What both APIs have of one value. In REST several hosts may have the same name. */
export interface BothValues {
  /** The numbers to add; empty if the API has no value. */
  readonly rest: readonly number[];
  readonly nerdgraph: readonly number[];
  /** Whether REST was asked not to round. */
  readonly raw: boolean;
  readonly unit: Unit;
}

/** `undefined` if neither API has a value. */
export function verdictOf({ rest, nerdgraph, raw, unit }: BothValues): Verdict | undefined {
  const restSum = sumOf(rest);
  const nerdgraphSum = sumOf(nerdgraph);
  if (restSum === undefined && nerdgraphSum === undefined) return undefined;
  if (nerdgraphSum === undefined) return restSum === 0 ? 'idle' : 'only REST';
  if (restSum === undefined) return nerdgraphSum === 0 ? 'idle' : 'only NerdGraph';
  const rounding = raw ? 0 : rest.reduce((sum, value) => sum + roundingOf(value, unit), 0);
  const tolerance = rounding + floatSlack * Math.max(1, restSum);
  return Math.abs(nerdgraphSum - restSum) <= tolerance ? 'equal' : 'differs';
}

/** Much less than one call in a day, and much more than the error of adding. */
const floatSlack = 1e-6;

export function sumOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((sum, value) => sum + value, 0);
}

/** REST rounds to this many digits. */
const significantDigits = 3;

/** Of a ratio REST may show two decimals only. */
const roundedRatio = 0.005;
/** The most that three digits can be off. They are digits of MiB, so bytes do not show which. */
const roundedShare = 0.005;

/** How far a rounded value may be from the true one: half a unit of its last significant digit. */
function roundingOf(value: number, unit: Unit): number {
  if (unit === 'ratio') return roundedRatio;
  if (unit === 'bytes') return roundedShare * value;
  if (value === 0) return 0;
  const exponent = Number(value.toExponential().split('e')[1]);
  return 0.5 * 10 ** (exponent - significantDigits + 1);
}

/**
 * How much the value changes with the switch, as a share of what REST says: 0.1 for 110 instead of
 * 100. Where there was nothing before, it is 1.
 */
export function changeOf(rest: number | undefined, nerdgraph: number | undefined): number {
  const before = rest ?? 0;
  return before === 0 ? 1 : Math.abs((nerdgraph ?? 0) - before) / before;
}
