import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import { upFamily } from './families.ts';
import {
  assemblePage,
  createPageCache,
  type PackingDependencies,
  type Page,
  packedPage,
} from './page.ts';
import { createFamilies, familiesOfSnapshot } from './polled-families.ts';
import { labelValueOf, renderLabels, renderSamples } from './render.ts';
import { identityOf, renderApplication } from './rendered-application.ts';
import {
  type AccountSlot,
  type AppSlot,
  createClaims,
  inOrder,
  newAppSlot,
  recount,
  renderSome,
} from './slots.ts';

/** Holds the published series as bytes. */
export interface SeriesStore extends SnapshotSink {
  /**
   * The page of everything published before the call; the same object while nothing changes. It
   * shows each application as of one snapshot, never a mixture of two.
   */
  page(): Promise<Page>;
  /** Series on the page that belong to the account. */
  seriesOf(account: string): number;
  /**
   * Series of the account that were left out so far because their labels were taken. However often
   * a series is published, it counts once, and again only if it was shown in between.
   */
  droppedOf(account: string): number;
}

class Store implements SeriesStore {
  readonly #dependencies: PackingDependencies;
  readonly #accounts = new Map<string, AccountSlot>();
  readonly #claims = createClaims<AppSlot>();
  readonly #upClaims = createClaims<AccountSlot>();
  /** Large applications whose newest snapshot is not rendered completely. */
  readonly #unfinished = new Set<AppSlot>();
  readonly #familiesOf = createFamilies();
  readonly #cache = createPageCache(() => this.#build());

  constructor(dependencies: PackingDependencies) {
    this.#dependencies = dependencies;
  }

  publish(snapshot: AppSnapshot): void {
    const account = this.#accountOf(snapshot.account);
    const slot = this.#slotOf(account, snapshot);
    const families = familiesOfSnapshot(snapshot, this.#familiesOf);
    slot.rendering = renderApplication(snapshot, families, slot.rendered);
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
    const { nextTurn } = this.#dependencies;
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
    const used = shown.map(({ rendered }) => rendered);
    const { identity, applications } = await assemblePage(upLines, used, nextTurn);
    for (const [index, { slot, rendered }] of shown.entries()) {
      // A slot that was published to meanwhile keeps what is newer.
      if (slot.rendered === rendered) slot.rendered = applications[index] ?? rendered;
    }
    return packedPage(identity, this.#dependencies);
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

  /** The application's slot, after it has claimed the snapshot's labels. */
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

  /** Takes its series off the page. The next application that claims the same labels is shown. */
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
 * Creates an empty store. It renders an application when it is published, not during a scrape. Of a
 * very large application it renders only the first lines then, and the rest in turns before the next
 * page.
 */
export function createSeriesStore(dependencies: PackingDependencies): SeriesStore {
  return new Store(dependencies);
}
