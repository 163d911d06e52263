import { setMaxListeners } from 'node:events';
import type { Clock } from '../model/clock.ts';
import type { ApiKeyHeader } from '../model/config.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import { authorize } from './authorize.ts';
import { withDeadline } from './deadline.ts';
import type { KeyProvider } from './key-provider.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from './limit-concurrency.ts';
import { createMeasure, type Measure } from './measure.ts';
import { pace } from './pace.ts';
import type { Membership } from './rate-limiters.ts';
import type { RawTransport } from './raw-send.ts';
import { reloadKey } from './reload-key.ts';
import { retry } from './retry.ts';
import { type ThrottleNotice, throttle } from './throttle.ts';
import type { PermittedRequest, Send, Transport } from './transport.ts';
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
