import { setMaxListeners } from 'node:events';
import type { Clock } from '../model/clock.ts';
import type { ApiKeyHeader } from '../model/config.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import { authorize } from './authorize.ts';
import { withDeadline } from './deadline.ts';
import type { KeyProvider } from './key-provider.ts';
import { limitConcurrency } from './limit-concurrency.ts';
import { createMeasure } from './measure.ts';
import { pace } from './pace.ts';
import type { Pacer } from './pacer.ts';
import type { RawTransport } from './raw-send.ts';
import { reloadKey } from './reload-key.ts';
import { retry } from './retry.ts';
import { throttle } from './throttle.ts';
import type { Transport } from './transport.ts';
import type { TransportDecorator } from './transport-decorator.ts';
import { createVendorClock } from './vendor-clock.ts';

export interface AccountTransportOptions {
  /** Named in errors. */
  readonly baseUrl: string;
  readonly apiKeyHeader: ApiKeyHeader;
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** One request, from its start to the last byte. */
  readonly timeoutMs: number;
  /** No retry starts later than this after the call began. Default: two minutes. */
  readonly giveUpAfterMs?: number;
}

export interface AccountTransportDependencies {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly pacer: Pacer;
  readonly observer: ApiObserver;
  readonly keyProvider: KeyProvider;
  readonly raw: RawTransport;
}

/** All that one account needs to talk to the vendor. */
export interface AccountTransport {
  readonly send: Transport;
  requestsInFlight(): number;
  /** Wall time until which a 429 keeps the account away; `undefined` when none does. */
  backoffUntilMs(): number | undefined;
  /** Calls a minute that may be sent at present: the budget, or less after 429s. */
  allowedPerMinute(): number;
  /** This machine's wall time, or the vendor's if that is far off and known. */
  vendorWallMs(): number;
  close(): Promise<void>;
}

const defaultGiveUpAfterMs = 120_000;
/** A window ends minutes ago, so that a smaller difference does not matter. */
const tolerableSkewMs = 30_000;

/** Puts the decorators of one account in their order. */
export function createAccountTransport(
  options: AccountTransportOptions,
  dependencies: AccountTransportDependencies,
): AccountTransport {
  const { apiKeyHeader, concurrency, timeoutMs } = options;
  const { clock, random, pacer, observer, keyProvider, raw } = dependencies;
  const { host } = new URL(options.baseUrl);
  const giveUpAfterMs = options.giveUpAfterMs ?? defaultGiveUpAfterMs;
  const measure = createMeasure({ clock, observer });
  const vendorClock = createVendorClock();

  // Outermost first. All that sends a second request is above `pace`, so that every request which
  // leaves the process is paced, limited and measured.
  const decorators: readonly TransportDecorator[] = [
    retry({ giveUpAfterMs }, { clock, random, pacer, observer }),
    reloadKey({ keyProvider, observer }),
    pace({ pacer }),
    limitConcurrency({ concurrency }),
    throttle({ clock, pacer, observer, vendorClock }),
    measure.decorate,
    withDeadline({ timeoutMs, host }, { clock }),
  ];
  const innermost = authorize({ apiKeyHeader }, { keyProvider, send: raw.send });

  const send = decorators.reduceRight((next, decorate) => decorate(next), innermost);
  let lastSignal: AbortSignal | undefined;

  return {
    send: (request, signal) => {
      if (signal !== lastSignal) {
        // One signal serves many calls at a time; Node.js would take the eleventh for a leak.
        setMaxListeners(0, signal);
        lastSignal = signal;
      }
      return send(request, signal);
    },
    requestsInFlight: () => measure.requestsInFlight(),
    backoffUntilMs: () => {
      const pausedUntilMs = pacer.pausedUntilMs();
      if (pausedUntilMs === undefined) return undefined;
      const leftMs = pausedUntilMs - clock.monotonicMs();
      return leftMs > 0 ? clock.wallMs() + leftMs : undefined;
    },
    allowedPerMinute: () => pacer.allowedPerMinute(),
    vendorWallMs: () => {
      const ownMs = clock.wallMs();
      const vendorMs = vendorClock.wallMs(clock.monotonicMs()) ?? ownMs;
      return Math.abs(vendorMs - ownMs) > tolerableSkewMs ? vendorMs : ownMs;
    },
    close: () => raw.close(),
  };
}
