import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import { type AppChunk, renderApp } from './app-chunk.ts';
import { upFamily } from './families.ts';
import { labelValueOf } from './label-value.ts';
import { assemblePage, type Page } from './page.ts';
import { createPageCache } from './page-cache.ts';
import { renderLabels, renderSamples } from './render.ts';

/** Holds what is published, as bytes. */
export interface ChunkStore extends SnapshotSink {
  /**
   * The page of everything published before the call. Unchanged, it is the same object again. An
   * application is on it as one snapshot had it, never half of one and half of the next.
   */
  page(): Promise<Page>;
  /** Series on the page that belong to the account. */
  seriesOf(account: string): number;
  /** Series of the account that were left out so far, because their labels were taken. */
  droppedOf(account: string): number;
}

export interface ChunkStoreDependencies {
  /** Compresses a page into one gzip member. */
  readonly gzip: (bytes: Buffer) => Promise<Buffer>;
  /** Resolves after other work of the process had its turn, as `setImmediate` does. */
  readonly nextTurn: () => Promise<void>;
}

interface AppSlot {
  readonly id: string;
  snapshot: AppSnapshot;
  chunk: AppChunk;
}

interface AccountSlot {
  readonly name: string;
  readonly labels: string;
  readonly apps: Map<string, AppSlot>;
  /** Applications in the order of the page; `undefined` after one came or went. */
  order: readonly AppSlot[] | undefined;
  up: { readonly value: boolean; readonly line: Buffer } | undefined;
  series: number;
  dropped: number;
}

/** Ids are decimal strings of any length: this is the order of their numbers. */
function byId(left: AppSlot, right: AppSlot): number {
  return left.id.length - right.id.length || (left.id < right.id ? -1 : 1);
}

function inOrder(account: AccountSlot): readonly AppSlot[] {
  account.order ??= [...account.apps.values()].toSorted(byId);
  return account.order;
}

class Chunks implements ChunkStore {
  readonly #dependencies: ChunkStoreDependencies;
  readonly #accounts = new Map<string, AccountSlot>();
  /** Who may publish series with these labels: the first that did. */
  readonly #claims = new Map<string, AccountSlot | AppSlot>();
  readonly #cache = createPageCache(() => this.#build());

  constructor(dependencies: ChunkStoreDependencies) {
    this.#dependencies = dependencies;
  }

  publish(snapshot: AppSnapshot): void {
    const account = this.#accountOf(snapshot.account);
    const { id } = snapshot.application;
    const previous = account.apps.get(id);
    const chunk = renderApp(snapshot, previous);
    const slot = previous ?? { id, snapshot, chunk };
    this.#withdraw(account, slot);
    account.dropped += chunk.duplicates;
    if (this.#claim(chunk.identity, slot)) {
      slot.snapshot = snapshot;
      slot.chunk = chunk;
      if (!account.apps.has(id)) account.order = undefined;
      account.apps.set(id, slot);
      account.series += chunk.series;
    } else {
      this.#forget(account, slot);
      account.dropped += chunk.series;
    }
    this.#cache.invalidate();
  }

  remove(account: string, applicationId: string): void {
    const owner = this.#accounts.get(account);
    const slot = owner?.apps.get(applicationId);
    if (owner === undefined || slot === undefined) return;
    this.#withdraw(owner, slot);
    this.#forget(owner, slot);
    this.#cache.invalidate();
  }

  accountUp(account: string, up: boolean): void {
    const slot = this.#accountOf(account);
    if (slot.up?.value === up) return;
    if (!this.#claim(slot.labels, slot)) {
      slot.dropped += 1;
      return;
    }
    if (slot.up === undefined) slot.series += 1;
    const shared = { before: slot.labels, after: '' };
    const text = renderSamples(upFamily.name, shared, [{ labels: '', value: Number(up) }]);
    slot.up = { value: up, line: Buffer.from(text) };
    this.#cache.invalidate();
  }

  removeAccount(account: string): void {
    const slot = this.#accounts.get(account);
    if (slot === undefined) return;
    for (const app of slot.apps.values()) this.#withdraw(slot, app);
    this.#release(slot.labels, slot);
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
    const accounts = [...this.#accounts.values()].toSorted((left, right) =>
      left.name < right.name ? -1 : 1,
    );
    const slots = accounts.flatMap(inOrder);
    const upLines = accounts.flatMap(({ up }) => (up === undefined ? [] : [up.line]));
    const used = slots.map(({ chunk }) => chunk);
    const { identity, chunks } = await assemblePage(upLines, used, this.#dependencies.nextTurn);
    for (const [index, slot] of slots.entries()) {
      // A slot that was published to meanwhile keeps the newer chunk.
      if (slot.chunk === used[index]) slot.chunk = chunks[index] ?? slot.chunk;
    }
    return { identity, gzip: await this.#dependencies.gzip(identity) };
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
      series: 0,
      dropped: 0,
    };
    this.#accounts.set(name, slot);
    return slot;
  }

  /** Takes back the series of an application, if it has any. */
  #withdraw(account: AccountSlot, slot: AppSlot): void {
    if (account.apps.get(slot.id) !== slot) return;
    this.#release(slot.chunk.identity, slot);
    account.series -= slot.chunk.series;
  }

  #forget(account: AccountSlot, slot: AppSlot): void {
    if (account.apps.delete(slot.id)) account.order = undefined;
  }

  #claim(labels: string, owner: AccountSlot | AppSlot): boolean {
    const holder = this.#claims.get(labels) ?? owner;
    this.#claims.set(labels, holder);
    return holder === owner;
  }

  #release(labels: string, owner: AccountSlot | AppSlot): void {
    if (this.#claims.get(labels) === owner) this.#claims.delete(labels);
  }
}

/** Creates an empty store. It renders an application when it is published, never in a scrape. */
export function createChunkStore(dependencies: ChunkStoreDependencies): ChunkStore {
  return new Chunks(dependencies);
}
