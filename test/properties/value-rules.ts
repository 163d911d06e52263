import { transactionTypes } from '../../src/model/application.ts';
import { seriesOf } from '../../src/model/polled-series.ts';
import type { AppReading, AppSnapshot, SnapshotSink } from '../../src/model/snapshot.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiResponse } from '../../src/newrelic/calls/transport.ts';
import { isApplicationShown, isChosen, isWanted, lateAfterMs, metricsOf } from './account-setup.ts';
import { metricLists } from './metric-lists.ts';
import { isOf, ToldValues } from './told-values.ts';
import type { WireCall } from './vendor-wire.ts';
import { setupOf, type World } from './world.ts';

/** What has happened to an application explains its absence for so long. */
const excusedMs = 20 * minuteMs;

/** An application as it is published. */
interface Shown {
  readonly snapshot: AppSnapshot;
  /** When a poll last brought values, and how many have. */
  readonly renewedMs: number;
  readonly renewals: number;
  /** When a poll first failed since then, as far as that is to be seen. */
  readonly failedMs: number | undefined;
  /** Hosts that the next poll sets out with, as far as that is known. */
  readonly listed: ReadonlySet<string>;
  readonly staleMs: StaleTimes;
}

/** How long values are held that are not renewed; the extremes since the last renewal. */
type StaleTimes = readonly [least: number, most: number, mostWhileFailing: number];

/** What is published of the applications, and when it vanishes. */
export class ValueRules {
  readonly #world: World;
  readonly #told = new ToldValues();
  readonly #shown = new Map<string, Shown>();
  readonly #answeredMs = new Map<string, number>();
  /** One of several calls may fail. */
  readonly #failedMs = new Map<string, number>();
  readonly #notFoundMs = new Map<string, number>();
  readonly #refusedMs = new Map<string, number>();
  readonly #listedMs = new Map<string, number>();
  readonly #renamedMs = new Map<string, number>();
  readonly #removedMs = new Map<string, number>();
  /** When the discovery under way began, and the last complete one. */
  readonly #discoveringMs = new Map<string, number>();
  readonly #discoveredMs = new Map<string, number>();
  #configuredMs = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  /** A reload begins: polls under way may be given up. */
  configured(): void {
    this.#configuredMs = this.#world.nowMs();
    for (const [name, shown] of this.#shown) {
      const staleMs = this.#widened(shown, 1);
      this.#shown.set(name, { ...shown, listed: new Set(), staleMs });
    }
  }

  renamed(applicationId: string): void {
    this.#renamedMs.set(applicationId, this.#world.nowMs());
  }

  /** An application, or a host, is not in the vendor's lists from now on. */
  removed(id: string): void {
    this.#removedMs.set(id, this.#world.nowMs());
  }

  sent({ account, operation }: WireCall): void {
    if (operation !== 'list_applications' || this.#discoveringMs.has(account)) return;
    this.#discoveringMs.set(account, this.#world.nowMs());
  }

  answered(call: WireCall, response: ApiResponse, isGenuine: boolean): void {
    const { account, metric } = call;
    // Between other answers a 404 for ids says that these are gone.
    if (metric === undefined && response.status === 404) {
      this.#notFoundMs.set(account, this.#world.nowMs());
    }
    if (metric === undefined) return;
    const name = `${account} ${metric.hostId || metric.applicationId}`;
    if (response.status === 401) {
      this.#refusedMs.set(`${account} ${metric.applicationId}`, this.#world.nowMs());
    }
    if (response.status === 404) this.#notFoundMs.set(name, this.#world.nowMs());
    if (response.status !== 200 || !isGenuine) {
      this.#failedMs.set(name, this.#world.nowMs());
      return;
    }
    this.#answeredMs.set(name, this.#world.nowMs());
    this.#told.note(call, response);
  }

  /** When values of the application were last renewed. */
  renewedMs(account: string, applicationId: string): number | undefined {
    return this.#shown.get(`${account} ${applicationId}`)?.renewedMs;
  }

  /** Whether the next values of the application are those of its second poll. */
  isRenewedOnce(account: string, applicationId: string): boolean {
    return this.#shown.get(`${account} ${applicationId}`)?.renewals === 1;
  }

  isDiscovering(account: string): boolean {
    return this.#discoveringMs.has(account);
  }

  /** Whether a complete discovery has shown that the application or host is no longer there. */
  isKnownGone(account: string, id: string, forMs: number = 0): boolean {
    const discoveredMs = this.discoveredMs(account);
    const removedMs = this.#removedMs.get(id) ?? Infinity;
    return removedMs < discoveredMs && removedMs + forMs < this.#world.nowMs();
  }

  /** When the last complete discovery of the account began. */
  discoveredMs(account: string): number {
    return this.#discoveredMs.get(account) ?? Number.NEGATIVE_INFINITY;
  }

  snapshotsOf(account: string): readonly AppSnapshot[] {
    const shown = Array.from(this.#shown.values(), ({ snapshot }) => snapshot);
    return shown.filter((snapshot) => snapshot.account === account);
  }

  watch(sink: SnapshotSink): SnapshotSink {
    return {
      publish: (snapshot) => {
        if (!('query' in snapshot)) this.#published(snapshot);
        sink.publish(snapshot);
      },
      leftOutOf: (account) => sink.leftOutOf(account),
      remove: (account, id) => {
        this.#vanished(account, id);
        sink.remove(account, id);
      },
      accountUp: (account, up) => {
        this.#discovered(account, up);
        sink.accountUp(account, up);
      },
      removeAccount: (account) => {
        this.#accountVanished(account);
        sink.removeAccount(account);
      },
    };
  }

  /** What has to be so at any time; `stretch` is that of each account. */
  check(stretch: (account: string) => number): void {
    const nowMs = this.#world.nowMs();
    for (const [name, shown] of this.#shown) {
      const { account, reading, application } = shown.snapshot;
      const staleMs = this.#widened(shown, stretch(account));
      this.#shown.set(name, { ...shown, staleMs });
      const ageMs = nowMs - shown.renewedMs;
      if (reading !== undefined && ageMs > staleMs[1]) {
        this.#world.report(
          'stale',
          `${name}: values not renewed for ${ageMs / 1000} s, at most ${staleMs[1] / 1000} s; poll_success ${shown.snapshot.pollSucceeded}`,
        );
      }
      const failedForMs = nowMs - (shown.failedMs ?? Infinity);
      if (reading !== undefined && failedForMs > staleMs[2]) {
        this.#world.report('stale', `${name}: held for ${failedForMs / 1000} s of failing polls`);
      }
      this.#checkChosen(shown.snapshot);
      this.#checkGone(name, account, application.id, [...(reading?.hosts.keys() ?? [])]);
    }
  }

  /** Nothing is shown that the configuration leaves out. */
  #checkChosen({ account, application: { id, name: appName }, ...shown }: AppSnapshot): void {
    const { hostsOnly, reading } = shown;
    const setup = setupOf(this.#world, account);
    if (setup === undefined) return;
    if (hostsOnly === isApplicationShown(setup)) {
      this.#world.report('chosen', `${account} ${id}: the application is shown: ${!hostsOnly}`);
    }
    const list = metricsOf(setup, appName);
    if (!isOf(reading, seriesOf(metricLists[list].metrics, transactionTypes))) {
      this.#world.report('chosen', `${account} ${id}: shows other metrics than ${list}`);
    }
    const hosts = this.#world.fleet.application(Number(id))?.hosts;
    for (const hostId of reading?.hosts.keys() ?? []) {
      const name = hosts?.get(Number(hostId))?.name;
      if (name === undefined || isChosen(setup, name)) continue;
      this.#world.report('chosen', `${account} ${id}: shows the host ${name}`);
    }
  }

  #checkGone(name: string, account: string, id: string, hostIds: readonly string[]): void {
    for (const gone of [id, ...hostIds].filter((one) => this.isKnownGone(account, one))) {
      this.#world.report('gone', `${name}: still shows ${gone}, which the lists no longer have`);
    }
    const notFoundMs = this.#notFoundMs.get(name) ?? Infinity;
    const isFoundSince = (this.#answeredMs.get(name) ?? -Infinity) > notFoundMs;
    const isDisturbed = this.#configuredMs >= notFoundMs - 5 * minuteMs;
    if (!isFoundSince && !isDisturbed && this.#world.nowMs() > notFoundMs + 5 * minuteMs) {
      this.#world.report('gone', `${name}: answers 404 and is still shown`);
    }
  }

  #published(snapshot: AppSnapshot): void {
    const { account, application } = snapshot;
    const name = `${account} ${application.id}`;
    const nowMs = this.#world.nowMs();
    for (const id of application.hostIds ?? []) {
      if (!this.#listedMs.has(`${account} ${id}`)) this.#listedMs.set(`${account} ${id}`, nowMs);
    }
    const before = this.#shown.get(name);
    const isRenewed = isNew(before?.snapshot, snapshot);
    this.#checkReading(name, snapshot, before);
    this.#shown.set(
      name,
      before !== undefined && !isRenewed
        ? { ...before, snapshot, failedMs: failedMs(before, snapshot, nowMs) }
        : {
            snapshot,
            renewedMs: nowMs,
            renewals: (before?.renewals ?? 0) + (isRenewed ? 1 : 0),
            failedMs: undefined,
            listed: new Set(application.hostIds),
            staleMs: this.#staleMs(account, 1),
          },
    );
  }

  #checkReading(name: string, snapshot: AppSnapshot, before: Shown | undefined): void {
    const { reading, pollSucceeded } = snapshot;
    const known = before?.snapshot.reading;
    const isFirst = known === undefined && before?.snapshot.pollSucceeded === undefined;
    // The first poll is late, and has not ended.
    const isLate = snapshot.failureReason === 'throttled';
    if (isFirst && pollSucceeded === false && !isLate) this.#checkFirst(name, snapshot, before);
    if (reading === known) return;
    if (reading === undefined) {
      if (before !== undefined) this.#checkDropped(name, snapshot, before);
    } else {
      this.#checkChanged(name, { ...snapshot, reading }, before);
    }
  }

  #checkChanged(
    name: string,
    snapshot: AppSnapshot & { readonly reading: AppReading },
    before: Shown | undefined,
  ): void {
    const { application, reading, pollSucceeded, hostsOnly } = snapshot;
    const isRenewed = isNew(before?.snapshot, snapshot);
    // Of an application that was left out nothing is known before it was asked.
    const isWhole = !hostsOnly && isRenewed && pollSucceeded === true;
    const isFailing = pollSucceeded === false;
    const lie = this.#told.lieOf(application.id, reading, { isWhole, isRenewed, isFailing });
    if (lie !== undefined) this.#world.report('truth', `${name}: ${lie}`);
    if (isRenewed) this.#checkWhole(name, snapshot, before);
  }

  /** The hosts that the poll has left out must have failed for long. */
  #checkWhole(name: string, snapshot: AppSnapshot, before: Shown | undefined): void {
    const { account, application, reading, pollSucceeded } = snapshot;
    const setup = setupOf(this.#world, account);
    if (before === undefined || setup?.hosts !== 'all') return;
    const nowMs = this.#world.nowMs();
    const listed = new Set(application.hostIds);
    const isNotFound = (id: string): boolean =>
      nowMs - (this.#notFoundMs.get(`${account} ${id}`) ?? -Infinity) < excusedMs;
    const asked = [...before.listed].filter((id) => listed.has(id) && !isNotFound(id));
    const left = asked.filter((id) => reading?.hosts.has(id) !== true);
    const isLate = (id: string): boolean => {
      // Of a host that was not shown there is nothing to hold.
      const wasShown = before.snapshot.reading?.hosts.has(id) === true;
      const goodMs = this.#answeredMs.get(`${account} ${id}`) ?? -Infinity;
      return wasShown && nowMs - goodMs < before.staleMs[0];
    };
    const late = left.filter((id) => isLate(id));
    const text = `${name}: ${left.length} of ${asked.length} hosts left out`;
    if (pollSucceeded === true && left.length > 0) {
      this.#world.report('half', `${text}, poll_success 1`);
    }
    if (late.length > 0) {
      this.#world.report('half', `${text}, ${late.length} of them not failing for stale_after`);
    }
  }

  /** The first poll shows what it got, if hardly anything failed. */
  #checkFirst(name: string, { account, application, reading }: AppSnapshot, before?: Shown): void {
    if (reading !== undefined || before === undefined) return;
    // A reload may have called off the poll that got an answer.
    const sinceMs = Math.max(before.renewedMs, this.#configuredMs);
    const isSince = (times: ReadonlyMap<string, number>, id: string): boolean =>
      (times.get(`${account} ${id}`) ?? -Infinity) >= sinceMs;
    const isGood = (id: string): boolean =>
      isSince(this.#answeredMs, id) && !isSince(this.#failedMs, id);
    const isRefused = (this.#refusedMs.get(name) ?? -Infinity) >= before.renewedMs;
    const failed = (application.hostIds ?? []).filter((id) => !isGood(id));
    if (!isGood(application.id) || isRefused || failed.length > 1) return;
    this.#world.report('first', `${name}: nothing shown, but ${failed.length} hosts failed only`);
  }

  #checkDropped(
    name: string,
    { pollSucceeded, hostsOnly }: AppSnapshot,
    { renewedMs, staleMs, snapshot: { reading } }: Shown,
  ): void {
    // There is no host to show.
    if (hostsOnly && pollSucceeded === true) return;
    // A discovery has removed the hosts, and the application's own values had not arrived.
    if (reading?.hosts.size === 0 && reading.application.length === 0) return;
    const ageMs = this.#world.nowMs() - renewedMs;
    if (pollSucceeded === true) this.#world.report('stale', `${name}: dropped with poll_success 1`);
    if (ageMs >= staleMs[0]) return;
    this.#world.report('vanished', `${name}: values dropped after ${ageMs / 1000} s`);
  }

  #vanished(account: string, id: string): void {
    const name = `${account} ${id}`;
    const shown = this.#shown.get(name);
    this.#shown.delete(name);
    if (shown === undefined) return;
    const isRecent = (times: ReadonlyMap<string, number>, key: string): boolean =>
      this.#world.nowMs() - (times.get(key) ?? -Infinity) < excusedMs;
    const setups = [setupOf(this.#world, account), ...this.#world.earlierSetups()];
    const isUnwanted = setups.some(
      (setup) =>
        setup === undefined ||
        (setup.name === account && !isWanted(setup, id, shown.snapshot.application.name)),
    );
    const isExplained =
      isUnwanted ||
      this.#world.fleet.application(Number(id)) === undefined ||
      isRecent(this.#renamedMs, id) ||
      isRecent(this.#notFoundMs, account) ||
      isRecent(this.#notFoundMs, name);
    if (!isExplained) this.#world.report('vanished', `${name} is removed without a reason`);
  }

  #accountVanished(account: string): void {
    for (const [name, { snapshot }] of this.#shown) {
      if (snapshot.account === account) this.#shown.delete(name);
    }
    this.#discoveringMs.delete(account);
    this.#discoveredMs.delete(account);
    const isThere = setupOf(this.#world, account) !== undefined;
    if (isThere) this.#world.report('vanished', `the account ${account} is removed`);
  }

  #discovered(account: string, up: boolean): void {
    const beganMs = this.#discoveringMs.get(account);
    if (up && beganMs !== undefined) this.#discoveredMs.set(account, beganMs);
    // One of which no page comes for three minutes is told as failing, and goes on (promise 4.3).
    const lastedMs = this.#world.nowMs() - (beganMs ?? Infinity);
    if (up || lastedMs < 3 * minuteMs) this.#discoveringMs.delete(account);
  }

  #widened({ snapshot, staleMs }: Shown, stretch: number): StaleTimes {
    const [least, most, failing] = this.#staleMs(snapshot.account, stretch);
    return [Math.min(staleMs[0], least), Math.max(staleMs[1], most), Math.max(staleMs[2], failing)];
  }

  #staleMs(account: string, stretch: number): StaleTimes {
    const setup = setupOf(this.#world, account);
    if (setup === undefined) return [0, Infinity, Infinity];
    const { intervalMs, staleAfterMs } = setup;
    // Stretched a little more for a moment, between two looks.
    const unseenMs = 1.3 * (stretch * intervalMs + lateAfterMs(setup, stretch));
    return [staleAfterMs, unseenMs + staleAfterMs + 5000, staleAfterMs + 1000];
  }
}

function failedMs(
  before: Shown,
  { pollSucceeded }: AppSnapshot,
  nowMs: number,
): number | undefined {
  const hasFailed = before.snapshot.pollSucceeded === true && pollSucceeded === false;
  return before.failedMs ?? (hasFailed ? nowMs : undefined);
}

/** Whether a poll has brought what is shown now. */
function isNew(before: AppSnapshot | undefined, after: AppSnapshot): boolean {
  if (after.reading === undefined) return false;
  return (
    before?.reading === undefined ||
    before.lastSuccessMs !== after.lastSuccessMs ||
    (after.pollSucceeded === false && hasNewPart(before.reading, after.reading))
  );
}

/**
 * Whether a part has arrived while others are held: these are the same objects, unless a reload has
 * changed what is read. A part that is dropped moves the window, but brings nothing.
 */
function hasNewPart(before: AppReading, after: AppReading): boolean {
  if (!isOf(before, after.series)) return false;
  return (
    (before.application !== after.application && after.application.length > 0) ||
    [...after.hosts].some(([id, values]) => before.hosts.get(id) !== values)
  );
}
