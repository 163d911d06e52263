import type { AppSnapshot } from '../model/snapshot.ts';
import type { AppRendering, RenderedApp } from './rendered-application.ts';

/** An application: what is on the page of it, and what will be. */
export interface AppSlot {
  readonly id: string;
  readonly account: AccountSlot;
  /** The labels that it claims. */
  identity: string;
  /** Whether the claim is its own: otherwise another application is shown with these labels. */
  isShown: boolean;
  rendered: RenderedApp | undefined;
  /** Of the newest snapshot, while it is not finished. */
  rendering: { readonly snapshot: AppSnapshot; readonly steps: AppRendering } | undefined;
  /** What it adds to the account's series. */
  series: number;
  /** Series that are not shown, and were counted as dropped. */
  leftOut: number;
}

export interface AccountSlot {
  readonly name: string;
  readonly labels: string;
  readonly apps: Map<string, AppSlot>;
  /** Applications in the order of the page; `undefined` after one came or went. */
  order: readonly AppSlot[] | undefined;
  up: { readonly value: boolean; readonly line: Buffer } | undefined;
  isUpShown: boolean;
  series: number;
  dropped: number;
}

/** Lines that are rendered before other work gets its turn: some milliseconds. */
const linesPerTurn = 1024;

export function newAppSlot(account: AccountSlot, id: string): AppSlot {
  return {
    id,
    account,
    identity: '',
    isShown: false,
    rendered: undefined,
    rendering: undefined,
    series: 0,
    leftOut: 0,
  };
}

/** Ids are decimal strings of any length: this is the order of their numbers. */
function byId(left: AppSlot, right: AppSlot): number {
  return left.id.length - right.id.length || (left.id < right.id ? -1 : 1);
}

/** The applications in the order of the page. */
export function inOrder(account: AccountSlot): readonly AppSlot[] {
  account.order ??= [...account.apps.values()].toSorted(byId);
  return account.order;
}

/** Brings the numbers up to date. A series counts as dropped when it is left out, not again later. */
export function recount(slot: AppSlot): void {
  const { account, rendered, isShown } = slot;
  const { series, duplicates } = rendered?.chunk ?? { series: 0, duplicates: 0 };
  const shown = isShown ? series : 0;
  const leftOut = series - shown + duplicates;
  account.series += shown - slot.series;
  account.dropped += Math.max(0, leftOut - slot.leftOut);
  slot.series = shown;
  slot.leftOut = leftOut;
}

/** Renders on for one turn. Returns whether the newest snapshot is rendered. */
export function renderSome(slot: AppSlot): boolean {
  if (slot.rendering === undefined) return true;
  const { snapshot, steps } = slot.rendering;
  for (let lines = 0; lines < linesPerTurn; ) {
    const step = steps.next();
    if (step.done === true) {
      slot.rendered = { snapshot, chunk: step.value };
      slot.rendering = undefined;
      recount(slot);
      return true;
    }
    lines += step.value;
  }
  return false;
}
