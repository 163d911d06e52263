import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import { upFamily } from './families.ts';
import { assemblePage, createPageCache, type Page } from './page.ts';
import { labelValueOf, renderLabels, renderSamples } from './render.ts';
import { identityOf, renderApp } from './rendered-application.ts';
import {
  type AccountSlot,
  type AppSlot,
  inOrder,
  newAppSlot,
  recount,
  renderSome,
} from './slots.ts';

/** Holds what is published, as bytes. */
export interface ChunkStore extends SnapshotSink {
  /**
   * The page of everything published before the call. Unchanged, it is the same object again. An
   * application is on it as one snapshot had it, never half of one and half of the next.
   */
  page(): Promise<Page>;
  /** Series on the page that belong to the account. */
  seriesOf(account: string): number;
  /**
   * Series of the account that were left out so far, because their labels were taken. Each counts
   * once, however often it is published, until it was shown.
   */
  droppedOf(account: string): number;
}

export interface ChunkStoreDependencies {
  /** Compresses a page into one gzip member. */
  readonly gzip: (bytes: Buffer) => Promise<Buffer>;
  /** Resolves after other work of the process had its turn, as `setImmediate` does. */
  readonly nextTurn: () => Promise<void>;
}

class Chunks implements ChunkStore {
  readonly #dependencies: ChunkStoreDependencies;
  readonly #accounts = new Map<string, AccountSlot>();
  readonly #claims = createClaims<AppSlot>();
  readonly #upClaims = createClaims<AccountSlot>();
  /** Large applications of which the newest snapshot is not rendered yet. */
  readonly #unfinished = new Set<AppSlot>();
  readonly #cache = createPageCache(() => this.#build());

  constructor(dependencies: ChunkStoreDependencies) {
    this.#dependencies = dependencies;
  }

  publish(snapshot: AppSnapshot): void {
    const account = this.#accountOf(snapshot.account);
    const slot = this.#slotOf(account, snapshot);
    slot.rendering = { snapshot, steps: renderApp(snapshot, slot.rendered) };
    if (renderSome(slot)) this.#unfinished.delete(slot);
    else this.#unfinished.add(slot);
    this.#cache.invalidate();
  }

  remove(account: string, applicationId: string): void {
    const owner = this.#accounts.get(account);
    const slot = owner?.apps.get(applicationId);
    if (owner === undefined || slot === undefined) return;
    this.#withdraw(slot);
    owner.apps.delete(applicationId);
    owner.order = undefined;
    owner.series -= slot.series;
    this.#cache.invalidate();
  }

  accountUp(account: string, up: boolean): void {
    const slot = this.#accountOf(account);
    if (slot.up?.value === up) return;
    if (slot.up === undefined) {
      slot.isUpShown = this.#upClaims.claim(slot.labels, slot);
      slot.series += Number(slot.isUpShown);
      slot.dropped += Number(!slot.isUpShown);
    }
    const shared = { before: slot.labels, after: '' };
    const text = renderSamples(upFamily.name, shared, [{ labels: '', value: Number(up) }]);
    slot.up = { value: up, line: Buffer.from(text) };
    this.#cache.invalidate();
  }

  removeAccount(account: string): void {
    const slot = this.#accounts.get(account);
    if (slot === undefined) return;
    for (const app of slot.apps.values()) this.#withdraw(app);
    const next = this.#upClaims.release(slot.labels, slot);
    if (next !== undefined) {
      next.isUpShown = true;
      next.series += 1;
    }
    this.#accounts.delete(account);
    this.#cache.invalidate();
  }

  page(): Promise<Page> {
    return this.#cache.page();
  }

  seriesOf(account: string): number {
    return this.#accounts.get(account)?.series ?? 0;
  }

  droppedOf(account: string): number {
    return this.#accounts.get(account)?.dropped ?? 0;
  }

  async #build(): Promise<Page> {
    const { gzip, nextTurn } = this.#dependencies;
    for (const slot of this.#unfinished) {
      while (!renderSome(slot)) await nextTurn();
      this.#unfinished.delete(slot);
    }
    const accounts = [...this.#accounts.values()].toSorted((left, right) =>
      left.name < right.name ? -1 : 1,
    );
    const upLines = accounts.flatMap(({ up, isUpShown }) =>
      up !== undefined && isUpShown ? [up.line] : [],
    );
    const shown = accounts
      .flatMap(inOrder)
      .flatMap((slot) =>
        slot.isShown && slot.rendered !== undefined ? [{ slot, rendered: slot.rendered }] : [],
      );
    const used = shown.map(({ rendered }) => rendered.chunk);
    const { identity, chunks } = await assemblePage(upLines, used, nextTurn);
    for (const [index, { slot, rendered }] of shown.entries()) {
      const chunk = chunks[index];
      // A slot that was published to meanwhile keeps the newer chunk.
      if (slot.rendered === rendered && chunk !== undefined) {
        slot.rendered = { snapshot: rendered.snapshot, chunk };
      }
    }
    return { identity, gzip: await gzip(identity) };
  }

  #accountOf(name: string): AccountSlot {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const slot: AccountSlot = {
      name,
      labels: renderLabels([['account', labelValueOf(name)]]),
      apps: new Map(),
      order: undefined,
      up: undefined,
      isUpShown: false,
      series: 0,
      dropped: 0,
    };
    this.#accounts.set(name, slot);
    return slot;
  }

  /** The application's slot, with a claim to the snapshot's labels. */
  #slotOf(account: AccountSlot, snapshot: AppSnapshot): AppSlot {
    const { id } = snapshot.application;
    const identity = identityOf(snapshot);
    const known = account.apps.get(id);
    if (known?.identity === identity) return known;
    if (known !== undefined) this.#withdraw(known);
    const slot = known ?? newAppSlot(account, id);
    slot.identity = identity;
    slot.isShown = this.#claims.claim(identity, slot);
    if (known === undefined) {
      account.apps.set(id, slot);
      account.order = undefined;
    }
    return slot;
  }

  /** Takes its series back; whoever waited for the same labels is shown from now on. */
  #withdraw(slot: AppSlot): void {
    this.#unfinished.delete(slot);
    slot.rendering = undefined;
    const next = this.#claims.release(slot.identity, slot);
    if (next === undefined) return;
    next.isShown = true;
    recount(next);
  }
}

/**
 * Creates an empty store. It renders an application when it is published, not in a scrape; but of a
 * very large one only the first lines, and the others, in turns, before the next page.
 */
export function createChunkStore(dependencies: ChunkStoreDependencies): ChunkStore {
  return new Chunks(dependencies);
}

/** Who may publish series with the same labels: the first that asked, and after it the next. */
export interface Claims<Owner> {
  /** Returns whether the owner may publish; otherwise it waits. Asking again changes nothing. */
  claim(labels: string, owner: Owner): boolean;
  /** Gives up, or waits no longer. Returns who may publish from now on and could not before. */
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
