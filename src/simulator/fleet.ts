import type { Clock } from '../model/clock.ts';
import { hourMs } from '../model/time.ts';
import {
  type ApplicationFactory,
  createApplicationFactory,
  generateSpecs,
} from './application-factory.ts';
import type { ApplicationSpec, FleetOptions, HostSpec } from './fleet-options.ts';
import { createRandom, type Random } from './random.ts';
import {
  endedHost,
  listedHosts,
  runningHosts,
  type SimulatedApplication,
  type SimulatedHost,
  withHosts,
  withSharedHostName,
} from './simulated-application.ts';

/**
 * The applications of one account and their hosts. Readers get immutable records of the current
 * state. The other methods change the account at once, and throw for an unknown id.
 */
export interface Fleet {
  applications(): readonly SimulatedApplication[];
  application(applicationId: number): SimulatedApplication | undefined;
  /** The hosts that the vendor lists: running ones, and stopped ones for about an hour. */
  listedHosts(application: SimulatedApplication): readonly SimulatedHost[];
  /** The application reports at once, as if its hosts had always run. */
  addApplication(spec: ApplicationSpec): SimulatedApplication;
  removeApplication(applicationId: number): void;
  renameApplication(applicationId: number, name: string): void;
  /** Replaces its tags beside those that the vendor sets. */
  setTags(applicationId: number, tags: Readonly<Record<string, string>>): void;
  setReporting(applicationId: number, reporting: boolean): void;
  /** Sets the rates of all hosts together, for past minutes too: a test need not wait. */
  setTraffic(
    applicationId: number,
    rates: { readonly webRpm?: number | undefined; readonly otherRpm?: number | undefined },
  ): void;
  /** From now on its traffic is added to that of its siblings. */
  addHost(applicationId: number, spec?: HostSpec): SimulatedHost;
  /** Stops a host. It stays listed for `listedMs`, by default as long as with the vendor. */
  removeHost(applicationId: number, hostId: number, listedMs?: number): void;
}

interface Timing {
  readonly churnEveryMs: number;
  readonly listedAfterEndMs: number;
  readonly retainedAfterEndMs: number;
}

/** The current records. */
interface Account {
  readonly timing: Timing;
  readonly factory: ApplicationFactory;
  records(): ReadonlyMap<number, SimulatedApplication>;
  required(applicationId: number): SimulatedApplication;
  put(application: SimulatedApplication): void;
  remove(applicationId: number): void;
}

function timingOf(options: FleetOptions): Timing {
  const perHour = options.churnPerHour ?? 0;
  const listedAfterEndMs = options.listedAfterEndMs ?? hourMs;
  return {
    churnEveryMs: perHour > 0 ? hourMs / perHour : Number.POSITIVE_INFINITY,
    listedAfterEndMs,
    retainedAfterEndMs: Math.max(options.retainedAfterEndMs ?? 24 * hourMs, listedAfterEndMs),
  };
}

function initialApplications(
  options: FleetOptions,
  factory: ApplicationFactory,
  random: Random,
  nowMs: number,
): readonly SimulatedApplication[] {
  const wanted = options.applications ?? 12;
  if (typeof wanted === 'object') return wanted.map((spec) => factory.application(spec, nowMs));
  const shape = { applications: wanted, hosts: options.hosts, kinds: options.kinds };
  const made = generateSpecs(shape, random).map((spec) => factory.application(spec, nowMs));
  return withSharedHostName(made);
}

function createAccount(options: FleetOptions, clock: Clock): Account {
  const random = createRandom(options.seed ?? 1);
  const factory = createApplicationFactory(options, { random });
  const timing = timingOf(options);
  const initial = initialApplications(options, factory, random, clock.wallMs());
  const byId = new Map(initial.map((application) => [application.id, application]));
  let nextChurnMs = clock.wallMs() + timing.churnEveryMs;

  const replaceOneHost = (atMs: number): void => {
    const reporting = [...byId.values()].filter(
      (application) => application.silentSinceMs === undefined,
    );
    const application = reporting[random.integer(0, reporting.length - 1)];
    if (application === undefined) return;
    const running = runningHosts(application);
    const old = running[random.integer(0, running.length - 1)];
    if (old === undefined) return;
    const changed = [
      endedHost(old, atMs, timing.listedAfterEndMs),
      factory.host({ weight: old.weight }, atMs),
    ];
    byId.set(application.id, withHosts(application, changed, atMs - timing.retainedAfterEndMs));
  };

  // Churn is made up for when records are read, with the times when it was due. So there is no timer.
  const catchUp = (): void => {
    const nowMs = clock.wallMs();
    for (; nextChurnMs <= nowMs; nextChurnMs += timing.churnEveryMs) replaceOneHost(nextChurnMs);
  };

  return {
    timing,
    factory,
    records: () => {
      catchUp();
      return byId;
    },
    required: (applicationId) => {
      catchUp();
      const found = byId.get(applicationId);
      if (found !== undefined) return found;
      throw new Error(`The simulated account has no application ${applicationId}; add it first.`);
    },
    put: (application) => {
      byId.set(application.id, application);
    },
    remove: (applicationId) => {
      byId.delete(applicationId);
    },
  };
}

export function createFleet(options: FleetOptions, dependencies: { readonly clock: Clock }): Fleet {
  const { clock } = dependencies;
  const account = createAccount(options, clock);
  const { factory, timing } = account;

  const changeHosts = (application: SimulatedApplication, host: SimulatedHost): void => {
    account.put(withHosts(application, [host], clock.wallMs() - timing.retainedAfterEndMs));
  };

  return {
    applications: () => [...account.records().values()],
    application: (applicationId) => account.records().get(applicationId),
    listedHosts: (application) => listedHosts(application, clock.wallMs()),
    addApplication: (spec) => {
      const application = factory.application(spec, clock.wallMs());
      account.put(application);
      return application;
    },
    removeApplication: (applicationId) => {
      account.remove(account.required(applicationId).id);
    },
    renameApplication: (applicationId, name) => {
      account.put({ ...account.required(applicationId), name });
    },
    setTags: (applicationId, tags) => {
      account.put({ ...account.required(applicationId), tags });
    },
    setReporting: (applicationId, reporting) => {
      const silentSinceMs = reporting ? undefined : clock.wallMs();
      account.put({ ...account.required(applicationId), silentSinceMs });
    },
    setTraffic: (applicationId, rates) => {
      const application = account.required(applicationId);
      const current = application.ratesPerMinute;
      const ratesPerMinute = {
        HttpDispatcher: rates.webRpm ?? current.HttpDispatcher,
        'OtherTransaction/all': rates.otherRpm ?? current['OtherTransaction/all'],
      };
      account.put({ ...application, ratesPerMinute });
    },
    addHost: (applicationId, spec = {}) => {
      const application = account.required(applicationId);
      const host = factory.host(spec, clock.wallMs());
      changeHosts(application, host);
      return host;
    },
    removeHost: (applicationId, hostId, listedMs = timing.listedAfterEndMs) => {
      const application = account.required(applicationId);
      const host = application.hosts.get(hostId);
      if (host === undefined) {
        throw new Error(`The simulated application ${applicationId} has no host ${hostId}.`);
      }
      changeHosts(application, endedHost(host, clock.wallMs(), listedMs));
    },
  };
}
