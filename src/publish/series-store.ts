import type { PolledSeries } from '../model/polled-series.ts';
import {
  type AppSnapshot,
  isOfQuery,
  type Snapshot,
  type SnapshotSink,
  subjectIdOf,
} from '../model/snapshot.ts';
import { type Logger, type SeriesDropReason, seriesDropReasons } from '../model/telemetry.ts';
import { type AppFamily, familiesOf, queryFamiliesOf, upFamily } from './families.ts';
import { createPage, createPageCache, type Page } from './page.ts';
import { type RenderedSubject, renderApplication, renderQuery, renderUp } from './render.ts';

type LeftOut = Record<SeriesDropReason, number>;

const upFamilies = [upFamily];
const noSeries: readonly PolledSeries[] = [];
const none: Readonly<LeftOut> = { duplicate: 0, max_series: 0, fault: 0 };

/** An application or a query, or an account itself. */
interface StoredSubject {
  readonly id: string;
  readonly account: StoredAccount;
  rendered: RenderedSubject;
  /** Whether it holds its labels: otherwise another one is shown with them. */
  isShown: boolean;
  /** Series that are not shown and have been counted as dropped. */
  leftOut: Readonly<LeftOut>;
}

interface StoredAccount {
  readonly name: string;
  readonly subjects: Map<string, StoredSubject>;
  /** Those that a fault of this program keeps from being shown. */
  readonly faulty: Set<string>;
  up: boolean | undefined;
  readonly dropped: LeftOut;
}

/** The order of the numbers that the ids write: decimal strings, perhaps longer than a number holds. */
const byId = (left: StoredSubject, right: StoredSubject): number =>
  left.id.length - right.id.length || (left.id < right.id ? -1 : 1);

/** A series counts as dropped once, when it is first left out. */
function countDropped(subject: StoredSubject): void {
  const { series, duplicates, leftOut: tooMany } = subject.rendered;
  const duplicate = duplicates + (subject.isShown ? 0 : series);
  const leftOut = { duplicate, max_series: tooMany, fault: 0 };
  for (const reason of seriesDropReasons) {
    subject.account.dropped[reason] += Math.max(0, leftOut[reason] - subject.leftOut[reason]);
  }
  subject.leftOut = leftOut;
}

/** Decides who may publish series with certain labels: the first that claimed them, then the next. */
class Claims {
  /** The first in each queue may publish. */
  readonly #queues = new Map<string, Set<StoredSubject>>();

  /** Returns whether the owner may publish; otherwise it waits. Claiming again changes nothing. */
  claim(labels: string, owner: StoredSubject): boolean {
    const queue = this.#queues.get(labels) ?? new Set();
    this.#queues.set(labels, queue.add(owner));
    const [holder] = queue;
    return holder === owner;
  }

  /** Gives up the labels or the wait for them. Returns the owner that may publish from now on, if new. */
  release(labels: string, owner: StoredSubject): StoredSubject | undefined {
    const queue = this.#queues.get(labels) ?? new Set();
    const [holder] = queue;
    queue.delete(owner);
    if (queue.size === 0) this.#queues.delete(labels);
    const [next] = queue;
    return holder === owner ? next : undefined;
  }
}

/** Holds the published series as bytes: renders a subject when it is published, not during a scrape. */
export class SeriesStore implements SnapshotSink {
  readonly #accounts = new Map<string, StoredAccount>();
  readonly #claims = new Claims();
  /** By what they are made of: thousands of applications have the same series. */
  readonly #families = new WeakMap<object, readonly AppFamily[]>();
  readonly #cache;
  readonly #logger: Logger | undefined;

  /**
   * @param nextTurn resolves after other work of the process has run, as `setImmediate` does
   * @param logger default: faults are only counted
   */
  constructor(nextTurn: () => Promise<void>, logger?: Logger) {
    this.#logger = logger;
    this.#cache = createPageCache(async () => createPage(this.#shown(), nextTurn));
  }

  /** A fault of this program in one subject leaves out that subject: it is counted, and logged once. */
  publish(snapshot: Snapshot): void {
    const id = subjectIdOf(snapshot);
    const name = isOfQuery(snapshot) ? snapshot.query.account : snapshot.account;
    const account = this.#accountOf(name);
    try {
      const rendered = isOfQuery(snapshot)
        ? renderQuery(snapshot, queryFamiliesOf(snapshot.query))
        : renderApplication(snapshot, this.#familiesOf(snapshot));
      this.#show(id, account, rendered);
      account.faulty.delete(id);
    } catch (error) {
      this.remove(name, id);
      if (account.faulty.has(id)) return;
      account.faulty.add(id);
      account.dropped.fault += 1;
      this.#logger?.error({ account: name, subject: id, error }, 'fault while it was published');
    }
  }

  remove(account: string, id: string): void {
    const subject = this.#accounts.get(account)?.subjects.get(id);
    if (subject === undefined) return;
    this.#withdraw(subject);
    subject.account.subjects.delete(id);
    this.#cache.invalidate();
  }

  accountUp(name: string, up: boolean): void {
    const account = this.#accountOf(name);
    if (account.up === up) return;
    account.up = up;
    this.#show('up', account, renderUp(name, up, upFamilies));
  }

  removeAccount(name: string): void {
    const account = this.#accounts.get(name);
    if (account === undefined) return;
    for (const subject of account.subjects.values()) this.#withdraw(subject);
    this.#accounts.delete(name);
    this.#cache.invalidate();
  }

  /**
   * The page of everything published before the call; the same object while nothing changes. It
   * shows each subject as of one snapshot, never a mixture of two.
   */
  page(): Promise<Page> {
    return this.#cache.page();
  }

  /** Series on the page that belong to the account. */
  seriesOf(name: string): number {
    const subjects = [...(this.#accounts.get(name)?.subjects.values() ?? [])];
    return subjects.reduce(
      (sum, { isShown, rendered }) => sum + (isShown ? rendered.series : 0),
      0,
    );
  }

  /**
   * Series of the account that were left out so far for this reason. However often
   * a series is published, it counts once, and again only if it was shown in between.
   */
  droppedOf(name: string, reason: SeriesDropReason = 'duplicate'): number {
    return this.#accounts.get(name)?.dropped[reason] ?? 0;
  }

  leftOutOf(name: string): Readonly<LeftOut> {
    const { subjects = new Map<string, StoredSubject>(), faulty } = this.#accounts.get(name) ?? {};
    const now = { ...none, fault: faulty?.size ?? 0 };
    for (const { leftOut } of subjects.values()) {
      now.duplicate += leftOut.duplicate;
      now.max_series += leftOut.max_series;
    }
    return now;
  }

  #show(id: string, account: StoredAccount, rendered: RenderedSubject): void {
    const known = account.subjects.get(id);
    const subject = known ?? { id, account, rendered, isShown: false, leftOut: none };
    if (known?.rendered.identity !== rendered.identity) {
      if (known !== undefined) this.#withdraw(known);
      subject.isShown = this.#claims.claim(rendered.identity, subject);
    }
    subject.rendered = rendered;
    account.subjects.set(id, subject);
    countDropped(subject);
    this.#cache.invalidate();
  }

  #familiesOf({ reading }: AppSnapshot): readonly AppFamily[] {
    const series = reading?.series ?? noSeries;
    const families = this.#families.get(series) ?? familiesOf(series);
    this.#families.set(series, families);
    return families;
  }

  /** What the page shows, in its order. */
  #shown(): readonly RenderedSubject[] {
    return [...this.#accounts.values()]
      .toSorted((left, right) => (left.name < right.name ? -1 : 1))
      .flatMap(({ subjects }) => [...subjects.values()].toSorted(byId))
      .filter(({ isShown }) => isShown)
      .map(({ rendered }) => rendered);
  }

  #accountOf(name: string): StoredAccount {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const account = {
      name,
      subjects: new Map<string, StoredSubject>(),
      faulty: new Set<string>(),
      up: undefined,
      dropped: { ...none },
    };
    this.#accounts.set(name, account);
    return account;
  }

  /** Takes its series off the page. The next one that claims the same labels is shown. */
  #withdraw(subject: StoredSubject): void {
    subject.isShown = false;
    const next = this.#claims.release(subject.rendered.identity, subject);
    if (next === undefined) return;
    next.isShown = true;
    countDropped(next);
  }
}
