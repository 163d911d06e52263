import type { Clock } from '../model/clock.ts';
import { hourMs } from '../model/time.ts';
import { ApplicationFactory, generateSpecs } from './application-factory.ts';
import type { CallCounter } from './call-counter.ts';
import type { ApplicationSpec, FleetOptions, HostSpec } from './fleet-options.ts';
import { createRandom, type Random } from './random.ts';
import {
  listedHosts,
  runningHosts,
  type SimulatedApplication,
  type SimulatedHost,
  withHosts,
  withSharedHostName,
} from './simulated-application.ts';

/** An account, as both APIs answer about it. */
export interface SimulatedAccount {
  readonly fleet: Fleet;
  readonly calls: CallCounter;
  readonly clock: Clock;
}

/**
 * The applications of one account and their hosts. Readers get immutable records of the current
 * state. The other methods change the account at once, and throw for an unknown id.
 */
export class Fleet {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #factory: ApplicationFactory;
  readonly #byId: Map<number, SimulatedApplication>;
  readonly #churnEveryMs: number;
  readonly #listedAfterEndMs: number;
  readonly #retainedAfterEndMs: number;
  #nextChurnMs: number;

  constructor(options: FleetOptions, clock: Clock) {
    const { churnPerHour = 0, listedAfterEndMs = hourMs, retainedAfterEndMs } = options;
    this.#clock = clock;
    this.#random = createRandom(options.seed ?? 1);
    this.#factory = new ApplicationFactory(options, this.#random);
    this.#churnEveryMs = churnPerHour > 0 ? hourMs / churnPerHour : Number.POSITIVE_INFINITY;
    this.#listedAfterEndMs = listedAfterEndMs;
    this.#retainedAfterEndMs = Math.max(retainedAfterEndMs ?? 24 * hourMs, listedAfterEndMs);
    const initial = this.#initial(options);
    this.#byId = new Map(initial.map((application) => [application.id, application]));
    this.#nextChurnMs = clock.wallMs() + this.#churnEveryMs;
  }

  applications(): readonly SimulatedApplication[] {
    this.#catchUp();
    return [...this.#byId.values()];
  }

  application(applicationId: number): SimulatedApplication | undefined {
    this.#catchUp();
    return this.#byId.get(applicationId);
  }

  /** The hosts that the vendor lists: running ones, and stopped ones for about an hour. */
  listedHosts(application: SimulatedApplication): readonly SimulatedHost[] {
    return listedHosts(application, this.#clock.wallMs());
  }

  /** The application reports at once, as if its hosts had always run. */
  addApplication(spec: ApplicationSpec): SimulatedApplication {
    const application = this.#factory.application(spec, this.#clock.wallMs());
    this.#byId.set(application.id, application);
    return application;
  }

  removeApplication(applicationId: number): void {
    this.#byId.delete(this.#required(applicationId).id);
  }

  renameApplication(applicationId: number, name: string): void {
    this.#change(applicationId, { name });
  }

  /** Replaces its tags beside those that the vendor sets. */
  setTags(applicationId: number, tags: Readonly<Record<string, string>>): void {
    this.#change(applicationId, { tags });
  }

  setReporting(applicationId: number, reporting: boolean): void {
    this.#change(applicationId, { silentSinceMs: reporting ? undefined : this.#clock.wallMs() });
  }

  /** Sets the rates of all hosts together, for past minutes too: a test need not wait. */
  setTraffic(
    applicationId: number,
    rates: { readonly webRpm?: number | undefined; readonly otherRpm?: number | undefined },
  ): void {
    const current = this.#required(applicationId).ratesPerMinute;
    const ratesPerMinute = {
      HttpDispatcher: rates.webRpm ?? current.HttpDispatcher,
      'OtherTransaction/all': rates.otherRpm ?? current['OtherTransaction/all'],
    };
    this.#change(applicationId, { ratesPerMinute });
  }

  /** From now on its traffic is added to that of its siblings. */
  addHost(applicationId: number, spec: HostSpec = {}): SimulatedHost {
    const application = this.#required(applicationId);
    const nowMs = this.#clock.wallMs();
    const host = this.#factory.host(spec, nowMs);
    this.#putHosts(application, [host], nowMs);
    return host;
  }

  /** Stops a host. It stays listed for `listedMs`, by default as long as with the vendor. */
  removeHost(applicationId: number, hostId: number, listedMs?: number): void {
    const application = this.#required(applicationId);
    const host = application.hosts.get(hostId);
    if (host === undefined) {
      throw new Error(`The simulated application ${applicationId} has no host ${hostId}.`);
    }
    const nowMs = this.#clock.wallMs();
    this.#putHosts(application, [this.#ended(host, nowMs, listedMs)], nowMs);
  }

  #initial(options: FleetOptions): readonly SimulatedApplication[] {
    const { applications: wanted = 12 } = options;
    const specs =
      typeof wanted === 'object' ? wanted : generateSpecs(wanted, options, this.#random);
    const nowMs = this.#clock.wallMs();
    const made = specs.map((spec) => this.#factory.application(spec, nowMs));
    return typeof wanted === 'object' ? made : withSharedHostName(made);
  }

  #required(applicationId: number): SimulatedApplication {
    const found = this.application(applicationId);
    if (found !== undefined) return found;
    throw new Error(`The simulated account has no application ${applicationId}; add it first.`);
  }

  #change(applicationId: number, change: Partial<SimulatedApplication>): void {
    this.#byId.set(applicationId, { ...this.#required(applicationId), ...change });
  }

  #ended(host: SimulatedHost, endedMs: number, listedMs?: number): SimulatedHost {
    const listedUntilMs = endedMs + (listedMs ?? this.#listedAfterEndMs);
    return { ...host, endedMs, listedUntilMs };
  }

  #putHosts(
    application: SimulatedApplication,
    changed: readonly SimulatedHost[],
    nowMs: number,
  ): void {
    const forgottenBeforeMs = nowMs - this.#retainedAfterEndMs;
    this.#byId.set(application.id, withHosts(application, changed, forgottenBeforeMs));
  }

  /** Churn is made up for when records are read, with the times when it was due. So there is no timer. */
  #catchUp(): void {
    const nowMs = this.#clock.wallMs();
    for (; this.#nextChurnMs <= nowMs; this.#nextChurnMs += this.#churnEveryMs) {
      this.#replaceOneHost(this.#nextChurnMs);
    }
  }

  #replaceOneHost(atMs: number): void {
    const reporting = [...this.#byId.values()].filter(
      (application) => application.silentSinceMs === undefined,
    );
    const application = reporting[this.#random.integer(0, reporting.length - 1)];
    if (application === undefined) return;
    const running = runningHosts(application);
    const old = running[this.#random.integer(0, running.length - 1)];
    if (old === undefined) return;
    const fresh = this.#factory.host({ weight: old.weight }, atMs);
    this.#putHosts(application, [this.#ended(old, atMs), fresh], atMs);
  }
}
