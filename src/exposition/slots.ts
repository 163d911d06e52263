import type { RenderedApplication, Rendering } from './rendered-application.ts';

/** An application: what the page shows of it now, and what it will show next. */
export interface AppSlot {
  readonly id: string;
  readonly account: AccountSlot;
  /** The labels that it claims. */
  identity: string;
  /** Whether it holds the claim: otherwise another application is shown with these labels. */
  isShown: boolean;
  rendered: RenderedApplication | undefined;
  /** The rendering of the newest snapshot, until it is finished. */
  rendering: Rendering | undefined;
  /** Its part of the account's series. */
  series: number;
  /** Series that are not shown and have been counted as dropped. */
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

/** Lines that are rendered before other work may run: some milliseconds. */
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

/** The order of the numbers that the ids write: decimal strings, perhaps longer than a number holds. */
function byId(left: AppSlot, right: AppSlot): number {
  return left.id.length - right.id.length || (left.id < right.id ? -1 : 1);
}

/** The applications in the order of the page. */
export function inOrder(account: AccountSlot): readonly AppSlot[] {
  account.order ??= [...account.apps.values()].toSorted(byId);
  return account.order;
}

/** Brings the counts up to date. A series counts as dropped once, when it is first left out. */
export function recount(slot: AppSlot): void {
  const { account, rendered, isShown } = slot;
  const { series, duplicates } = rendered ?? { series: 0, duplicates: 0 };
  const shown = isShown ? series : 0;
  const leftOut = series - shown + duplicates;
  account.series += shown - slot.series;
  account.dropped += Math.max(0, leftOut - slot.leftOut);
  slot.series = shown;
  slot.leftOut = leftOut;
}

/** Renders for one more turn. Returns whether the newest snapshot is rendered completely. */
export function renderSome(slot: AppSlot): boolean {
  const { rendering } = slot;
  if (rendering === undefined) return true;
  for (let lines = 0; lines < linesPerTurn; ) {
    const step = rendering.next();
    if (step.done === true) {
      slot.rendered = step.value;
      slot.rendering = undefined;
      recount(slot);
      return true;
    }
    lines += step.value;
  }
  return false;
}

/** Decides who may publish series with certain labels: the first that claimed them, then the next. */
export interface Claims<Owner> {
  /** Returns whether the owner may publish; otherwise it waits. Claiming again changes nothing. */
  claim(labels: string, owner: Owner): boolean;
  /** Gives up the labels or the wait for them. Returns the owner that may publish from now on, if new. */
  release(labels: string, owner: Owner): Owner | undefined;
}

export function createClaims<Owner>(): Claims<Owner> {
  const holders = new Map<string, Owner>();
  const waiting = new Map<string, Set<Owner>>();

  const stopWaiting = (labels: string, owner: Owner): void => {
    const queue = waiting.get(labels);
    queue?.delete(owner);
    if (queue?.size === 0) waiting.delete(labels);
  };

  return {
    claim: (labels, owner) => {
      const holder = holders.get(labels) ?? owner;
      holders.set(labels, holder);
      if (holder === owner) return true;
      const queue = waiting.get(labels) ?? new Set();
      waiting.set(labels, queue.add(owner));
      return false;
    },
    release: (labels, owner) => {
      if (holders.get(labels) !== owner) {
        stopWaiting(labels, owner);
        return undefined;
      }
      const [next] = waiting.get(labels) ?? [];
      if (next === undefined) {
        holders.delete(labels);
      } else {
        holders.set(labels, next);
        stopWaiting(labels, next);
      }
      return next;
    },
  };
}
