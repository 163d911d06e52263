import type { PolledSeries } from '../model/polled-series.ts';
import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import { type SeriesDropReason, seriesDropReasons } from '../model/telemetry.ts';
import { type AppFamily, upFamily } from './families.ts';
import { createPage, createPageCache, type Page, type PageDependencies } from './page.ts';
import { familiesOf } from './polled-families.ts';
import { queryFamiliesOf } from './query-families.ts';
import { labelValueOf, renderLabels, renderSamples } from './render.ts';
import { type RenderedApplication, renderApplication } from './rendered-application.ts';

type LeftOut = Record<SeriesDropReason, number>;

const noSeries: readonly PolledSeries[] = [];
const none: Readonly<LeftOut> = { duplicate: 0, max_series: 0 };

interface App {
  readonly id: string;
  readonly account: Account;
  rendered: RenderedApplication;
  /** Whether it holds its labels: otherwise another application is shown with them. */
  isShown: boolean;
  /** Series that are not shown and have been counted as dropped. */
  leftOut: Readonly<LeftOut>;
}

interface Account {
  readonly name: string;
  readonly labels: string;
  readonly apps: Map<string, App>;
  up: boolean | undefined;
  isUpShown: boolean;
  readonly dropped: LeftOut;
}

/** The order of the numbers that the ids write: decimal strings, perhaps longer than a number holds. */
function byId(left: App, right: App): number {
  return left.id.length - right.id.length || (left.id < right.id ? -1 : 1);
}

/** A series counts as dropped once, when it is first left out. */
function countDropped(app: App): void {
  const { series, duplicates, snapshot } = app.rendered;
  const leftOut = {
    duplicate: duplicates + (app.isShown ? 0 : series),
    max_series: snapshot.reading?.query?.leftOut ?? 0,
  };
  for (const reason of seriesDropReasons) {
    app.account.dropped[reason] += Math.max(0, leftOut[reason] - app.leftOut[reason]);
  }
  app.leftOut = leftOut;
}

/** Decides who may publish series with certain labels: the first that claimed them, then the next. */
class Claims<Owner> {
  /** The first in each queue may publish. */
  readonly #queues = new Map<string, Set<Owner>>();

  /** Returns whether the owner may publish; otherwise it waits. Claiming again changes nothing. */
  claim(labels: string, owner: Owner): boolean {
    const queue = this.#queues.get(labels) ?? new Set();
    this.#queues.set(labels, queue.add(owner));
    const [holder] = queue;
    return holder === owner;
  }

  /** Gives up the labels or the wait for them. Returns the owner that may publish from now on, if new. */
  release(labels: string, owner: Owner): Owner | undefined {
    const queue = this.#queues.get(labels) ?? new Set();
    const [holder] = queue;
    queue.delete(owner);
    if (queue.size === 0) this.#queues.delete(labels);
    const [next] = queue;
    return holder === owner ? next : undefined;
  }
}

/** Holds the published series as bytes: renders an application when it is published, not during a scrape. */
export class SeriesStore implements SnapshotSink {
  readonly #accounts = new Map<string, Account>();
  readonly #claims = new Claims<App>();
  readonly #upClaims = new Claims<Account>();
  /** By what they are made of: thousands of applications have the same series. */
  readonly #families = new WeakMap<object, readonly AppFamily[]>();
  readonly #cache;

  constructor(dependencies: PageDependencies) {
    this.#cache = createPageCache(async () =>
      createPage(this.#upLines(), this.#shown(), dependencies),
    );
  }

  publish(snapshot: AppSnapshot): void {
    const account = this.#accountOf(snapshot.account);
    const { id } = snapshot.application;
    const known = account.apps.get(id);
    const rendered = renderApplication(snapshot, this.#familiesOf(snapshot));
    const app = known ?? { id, account, rendered, isShown: false, leftOut: none };
    if (known?.rendered.identity !== rendered.identity) {
      if (known !== undefined) this.#withdraw(known);
      app.isShown = this.#claims.claim(rendered.identity, app);
    }
    app.rendered = rendered;
    account.apps.set(id, app);
    countDropped(app);
    this.#cache.invalidate();
  }

  remove(account: string, applicationId: string): void {
    const app = this.#accounts.get(account)?.apps.get(applicationId);
    if (app === undefined) return;
    this.#withdraw(app);
    app.account.apps.delete(applicationId);
    this.#cache.invalidate();
  }

  accountUp(name: string, up: boolean): void {
    const account = this.#accountOf(name);
    if (account.up === up) return;
    if (account.up === undefined) {
      account.isUpShown = this.#upClaims.claim(account.labels, account);
      account.dropped.duplicate += Number(!account.isUpShown);
    }
    account.up = up;
    this.#cache.invalidate();
  }

  removeAccount(name: string): void {
    const account = this.#accounts.get(name);
    if (account === undefined) return;
    for (const app of account.apps.values()) this.#withdraw(app);
    const next = this.#upClaims.release(account.labels, account);
    if (next !== undefined) next.isUpShown = true;
    this.#accounts.delete(name);
    this.#cache.invalidate();
  }

  /**
   * The page of everything published before the call; the same object while nothing changes. It
   * shows each application as of one snapshot, never a mixture of two.
   */
  page(): Promise<Page> {
    return this.#cache.page();
  }

  /** Series on the page that belong to the account. */
  seriesOf(name: string): number {
    const account = this.#accounts.get(name);
    if (account === undefined) return 0;
    let series = Number(account.isUpShown);
    for (const { isShown, rendered } of account.apps.values())
      series += isShown ? rendered.series : 0;
    return series;
  }

  /**
   * Series of the account that were left out so far for this reason. However often
   * a series is published, it counts once, and again only if it was shown in between.
   */
  droppedOf(name: string, reason: SeriesDropReason = 'duplicate'): number {
    return this.#accounts.get(name)?.dropped[reason] ?? 0;
  }

  #familiesOf({ query, reading }: AppSnapshot): readonly AppFamily[] {
    const series = reading?.series ?? noSeries;
    const known = this.#families.get(query ?? series);
    const families = known ?? (query === undefined ? familiesOf(series) : queryFamiliesOf(query));
    this.#families.set(query ?? series, families);
    return families;
  }

  #inOrder(): readonly Account[] {
    return [...this.#accounts.values()].toSorted((left, right) =>
      left.name < right.name ? -1 : 1,
    );
  }

  #upLines(): string {
    return this.#inOrder()
      .filter(({ up, isUpShown }) => up !== undefined && isUpShown)
      .map(({ labels, up }) =>
        renderSamples(upFamily.name, { before: labels, after: '' }, [
          { labels: '', value: Number(up) },
        ]),
      )
      .join('');
  }

  /** What the page shows, in its order. */
  #shown(): readonly RenderedApplication[] {
    return this.#inOrder()
      .flatMap(({ apps }) => [...apps.values()].toSorted(byId))
      .filter(({ isShown }) => isShown)
      .map(({ rendered }) => rendered);
  }

  #accountOf(name: string): Account {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const labels = renderLabels([['account', labelValueOf(name)]]);
    const apps = new Map<string, App>();
    const account = { name, labels, apps, up: undefined, isUpShown: false, dropped: { ...none } };
    this.#accounts.set(name, account);
    return account;
  }

  /** Takes its series off the page. The next application that claims the same labels is shown. */
  #withdraw(app: App): void {
    app.isShown = false;
    const next = this.#claims.release(app.rendered.identity, app);
    if (next === undefined) return;
    next.isShown = true;
    countDropped(next);
  }
}
