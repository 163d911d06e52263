import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import type { Clock } from '../model/clock.ts';
import type { ApiKeyHeader } from '../model/config.ts';
import type { ApiObserver, Operation } from '../model/telemetry.ts';
import type { Membership } from '../rate-limit/rate-limiters.ts';
import { withDeadline } from './deadline.ts';
import { createMeasure, type Measure } from './measure.ts';
import { reloadKey, retry } from './retry.ts';
import { type ThrottleNotice, throttle } from './throttle.ts';
import type {
  KeyProvider,
  PermittedRequest,
  RawSend,
  RawTransport,
  Send,
  Transport,
  TransportDecorator,
} from './transport.ts';
import { type ClockSkew, createVendorClock, type VendorClock } from './vendor-clock.ts';

/** How each request is sent. */
export interface SendSettings {
  readonly apiKeyHeader: ApiKeyHeader;
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** One request, from its start to the last byte. */
  readonly timeoutMs: number;
}

export interface AccountTransportOptions extends SendSettings {
  /** Named in errors. */
  readonly baseUrl: string;
  /** No retry starts later than this after the call began. Default: two minutes. */
  readonly giveUpAfterMs?: number;
}

export interface AccountTransportDependencies {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The account's part in the rate limiter of its key. */
  readonly membership: Membership;
  readonly observer: ApiObserver;
  readonly keyProvider: KeyProvider;
  readonly raw: RawTransport;
  readonly events: TransportEvents;
}

/** What people should hear of. */
export interface TransportEvents {
  /** The vendor has answered 429. */
  readonly throttled: (notice: ThrottleNotice) => void;
  /** The vendor's clock and ours differ so much that it matters; `undefined`: no longer. */
  readonly clockSkewed: (skew: ClockSkew | undefined) => void;
}

/** All that one account needs to talk to the vendor. */
export interface AccountTransport {
  readonly send: Transport;
  /** Other settings for all requests that leave from now on. */
  reconfigure(settings: SendSettings): void;
  requestsInFlight(): number;
  /** Wall time until which a 429 keeps the account away; `undefined` when none does. */
  backoffUntilMs(): number | undefined;
  /** Calls a minute that may be planned with at present: see `Membership`. */
  limitPerMinute(): number;
  /** Requests so far that were sent a second or third time. */
  retries(): number;
  /** This machine's wall time, or the vendor's if that is far off and believed. */
  vendorWallMs(): number;
  /** How far the vendor's clock is ahead, if it is used instead of ours. */
  clockSkewSeconds(): number | undefined;
  close(): Promise<void>;
}

const defaultGiveUpAfterMs = 120_000;

/** Puts the decorators of one account in their order. */
export function createAccountTransport(
  options: AccountTransportOptions,
  dependencies: AccountTransportDependencies,
): AccountTransport {
  const { clock, membership, raw } = dependencies;
  const measure = createMeasure(dependencies);
  const vendorClock = createVendorClock({ clock, skewed: dependencies.events.clockSkewed });
  let retries = 0;
  const observer: ApiObserver = {
    ...dependencies.observer,
    retried: (operation, reason) => {
      retries += 1;
      dependencies.observer.retried(operation, reason);
    },
  };
  const limit = createConcurrencyLimit(options);
  const wireWith = (settings: SendSettings): Send<PermittedRequest> =>
    withDeadline(
      { timeoutMs: settings.timeoutMs, host: new URL(options.baseUrl).host },
      { clock },
    )(authorize(settings, raw));
  let wire = wireWith(options);
  const parts = { ...dependencies, observer, vendorClock, measure, limit };
  const send = sendThrough(options, parts, (request, signal) => wire(request, signal));
  let lastSignal: AbortSignal | undefined;

  const clockSkewSeconds = (): number | undefined => {
    const skew = vendorClock.skew();
    return skew?.isBelieved === true ? skew.ms / 1000 : undefined;
  };

  return {
    send: (request, signal) => {
      if (signal !== lastSignal) {
        // One signal serves many calls at a time; Node.js would take the eleventh for a leak.
        setMaxListeners(0, signal);
        lastSignal = signal;
      }
      return send(request, signal);
    },
    reconfigure: (settings) => {
      limit.resize(settings.concurrency);
      wire = wireWith(settings);
    },
    requestsInFlight: () => measure.requestsInFlight(),
    backoffUntilMs: () => {
      const pausedUntilMs = membership.pausedUntilMs();
      return pausedUntilMs === undefined
        ? undefined
        : clock.wallMs() + pausedUntilMs - clock.monotonicMs();
    },
    limitPerMinute: () => membership.limitPerMinute(),
    retries: () => retries,
    vendorWallMs: () => clock.wallMs() + 1000 * (clockSkewSeconds() ?? 0),
    clockSkewSeconds,
    close: () => raw.close(),
  };
}

/** The way of a call to the wire, outermost first. */
function sendThrough(
  { giveUpAfterMs }: AccountTransportOptions,
  dependencies: AccountTransportDependencies & {
    readonly vendorClock: VendorClock;
    readonly measure: Measure;
    readonly limit: ConcurrencyLimit;
  },
  wire: Send<PermittedRequest>,
): Transport {
  // All that sends a second request is above `pace`, so that every request which leaves the process
  // is paced, limited and measured.
  const outer = [
    retry({ giveUpAfterMs: giveUpAfterMs ?? defaultGiveUpAfterMs }, dependencies),
    reloadKey(dependencies),
  ];
  const inner = [
    dependencies.limit.decorate,
    throttle({ ...dependencies, throttled: dependencies.events.throttled }),
    dependencies.measure.decorate,
  ];
  const permitted = inner.reduceRight((next, decorate) => decorate(next), wire);
  return outer.reduceRight((next, decorate) => decorate(next), pace(dependencies)(permitted));
}

/** Everything else depends on knowing what there is, and these calls are few. */
function isUrgent(operation: Operation): boolean {
  return operation === 'list_applications' || operation === 'list_hosts';
}

/** Waits for a permit of the account's key for every request, and releases it when that ended. */
export function pace(dependencies: {
  readonly membership: Pick<Membership, 'acquire'>;
}): (next: Send<PermittedRequest>) => Transport {
  const { membership } = dependencies;
  return (next) => async (request, signal) => {
    const permit = await membership.acquire(isUrgent(request.operation), signal);
    try {
      return await next({ ...request, permit }, signal);
    } finally {
      permit.release();
    }
  };
}

export interface AuthorizeDependencies {
  readonly send: RawSend;
}

/** Adds the key that the permit of the request is for; the key goes nowhere else. */
export function authorize(
  { apiKeyHeader }: { readonly apiKeyHeader: ApiKeyHeader },
  { send }: AuthorizeDependencies,
): Send<PermittedRequest> {
  // The same object for the same key, so that the wire need not look into it for every request.
  let last:
    | { readonly key: string; readonly headers: Readonly<Record<string, string>> }
    | undefined;

  return (request, signal) => {
    const key = request.permit.apiKey;
    if (last?.key !== key) last = { key, headers: { [apiKeyHeader]: key } };
    return send(request, last.headers, signal);
  };
}

export interface ConcurrencyLimit {
  /**
   * Lets at most `concurrency` requests be in flight; the others wait in the order they came. A waiting
   * request whose signal is aborted rejects when its turn comes.
   */
  readonly decorate: TransportDecorator;
  /** Another limit from now on; what is in flight beyond it goes on. */
  resize(concurrency: number): void;
}

export function createConcurrencyLimit(options: {
  readonly concurrency: number;
}): ConcurrencyLimit {
  const limit = pLimit(options.concurrency);
  return {
    decorate: (next) => (request, signal) => limit(next, request, signal),
    resize: (concurrency) => {
      limit.concurrency = concurrency;
    },
  };
}
