import { setMaxListeners } from 'node:events';
import type { ApiKeyHeader } from '../model/config.ts';
import type { Throttled } from '../model/permit.ts';
import { withDeadline } from './deadline.ts';
import { createMeasure, type Measure } from './measure.ts';
import { takeTurn } from './permits.ts';
import { reloadKey, retry } from './retry.ts';
import type {
  ApiResponse,
  PermittedRequest,
  RawTransport,
  Send,
  Transport,
  TransportDecorator,
  TransportParts,
} from './transport.ts';
import { type ClockSkew, createVendorClock, type VendorClock } from './vendor-clock.ts';

/** How each request is sent. */
export interface SendSettings {
  readonly apiKeyHeader: ApiKeyHeader;
  /** One request, from its start to the last byte. */
  readonly timeoutMs: number;
}

export interface AccountTransportOptions extends SendSettings {
  /** Named in errors. */
  readonly baseUrl: string;
}

export interface AccountTransportDependencies extends TransportParts {
  /** The connections to the vendor, until `reconfigure` gives others. */
  readonly raw: RawTransport;
  readonly events: TransportEvents;
  /** Left out where nobody reads it: then it costs nothing. */
  readonly callLog?: TransportDecorator | undefined;
  /**
   * The status that an answer should have had, for an API that reports failures under 200. Default:
   * the one that it has.
   */
  readonly statusOf?: ((answer: ApiResponse) => number) | undefined;
}

/** What people should hear of. */
export interface TransportEvents {
  /** The vendor has answered 429. The limiter of the key knows already. */
  readonly throttled: (answer: Throttled) => void;
  /** The vendor's clock and ours differ so much that it matters; `undefined`: no longer. */
  readonly clockSkewed: (skew: ClockSkew | undefined) => void;
}

/** Everything that one account needs to talk to the vendor. */
export interface AccountTransport {
  readonly send: Transport;
  /**
   * Other settings for all requests that leave from now on, and other connections if some are given.
   * What was sent on the old connections ends there; then they are closed.
   */
  reconfigure(settings: SendSettings, raw?: RawTransport): void;
  requestsInFlight(): number;
  /** Wall time until which a 429 keeps the account away; `undefined` when none does. */
  backoffUntilMs(): number | undefined;
  /** Requests so far that were sent a second or third time. */
  retries(): number;
  /** This machine's wall time, or the vendor's if that is far off and believed. */
  vendorWallMs(): number;
  /** How far the vendor's clock is ahead, if it is used instead of ours. */
  clockSkewSeconds(): number | undefined;
  /** Whether the next answers may show that windows were cut by a wrong clock. */
  isClockInDoubt(): boolean;
  /** Breaks off whatever is under way and closes every connection. */
  close(): Promise<void>;
}

export function createAccountTransport(
  options: AccountTransportOptions,
  dependencies: AccountTransportDependencies,
): AccountTransport {
  const { clock, membership } = dependencies;
  const connections = createReplaceableTransport(dependencies.raw);
  const measure = createMeasure(dependencies);
  const vendorClock = createVendorClock({ clock, skewed: dependencies.events.clockSkewed });
  const wireWith = (settings: SendSettings): Send<PermittedRequest> =>
    withDeadline(
      { timeoutMs: settings.timeoutMs, host: new URL(options.baseUrl).host },
      { clock },
    )(async (request, signal) =>
      // The key goes nowhere else.
      connections.send(request, { [settings.apiKeyHeader]: request.permit.apiKey }, signal),
    );
  let wire = wireWith(options);
  const parts = { ...dependencies, vendorClock, measure };
  const send = sendThrough(parts, (request, signal) => wire(request, signal));

  const clockSkewSeconds = (): number | undefined => {
    const skew = vendorClock.skew();
    return skew?.isBelieved === true ? skew.ms / 1000 : undefined;
  };

  return {
    send: (request, signal) => {
      // One signal serves many calls at a time; Node.js would take the eleventh for a leak.
      setMaxListeners(0, signal);
      return send(request, signal);
    },
    reconfigure: (settings, raw) => {
      wire = wireWith(settings);
      if (raw !== undefined) connections.replace(raw);
    },
    requestsInFlight: () => measure.requestsInFlight(),
    backoffUntilMs: () => {
      const untilMs = membership.pausedUntilMs();
      return untilMs === undefined ? undefined : clock.wallMs() + untilMs - clock.monotonicMs();
    },
    retries: () => measure.retries(),
    vendorWallMs: () => clock.wallMs() + 1000 * (clockSkewSeconds() ?? 0),
    clockSkewSeconds,
    isClockInDoubt: () => vendorClock.isInDoubt(),
    close: () => connections.close(),
  };
}

/** All decorators of a request, outermost first, down to the deadline and the key. */
function sendThrough(
  dependencies: AccountTransportDependencies & {
    readonly vendorClock: VendorClock;
    readonly measure: Measure;
  },
  wire: Send<PermittedRequest>,
): Transport {
  // These may send a second request. They are above `takeTurn`, so that every request which leaves the
  // process has a permit and is measured.
  const resending = [retry(dependencies), reloadKey(dependencies)];
  const permitted = [
    dependencies.measure.decorate,
    dependencies.callLog ?? unchanged,
    readStatus(dependencies.statusOf),
  ];
  const turns = takeTurn({ ...dependencies, throttled: dependencies.events.throttled });
  const paced = turns(permitted.reduceRight((next, decorate) => decorate(next), wire));
  return resending.reduceRight((next, decorate) => decorate(next), paced);
}

const unchanged: TransportDecorator = (next) => next;

/** Gives every answer the status that it should have had: everything above decides by it. */
function readStatus(statusOf: ((answer: ApiResponse) => number) | undefined): TransportDecorator {
  if (statusOf === undefined) return unchanged;
  return (next) => async (request, signal) => {
    const answer = await next(request, signal);
    const status = statusOf(answer);
    return status === answer.status ? answer : { ...answer, status };
  };
}

/** Connections in use, and how many requests are on them. */
interface Connections {
  readonly raw: RawTransport;
  requests: number;
}

/** What was sent through connections that were replaced ends there; then they are closed. */
export function createReplaceableTransport(
  initial: RawTransport,
): RawTransport & { readonly replace: (next: RawTransport) => void } {
  let current: Connections = { raw: initial, requests: 0 };
  const open = new Set([current]);
  const closing = new Set<Promise<void>>();

  const closeIfDone = (connections: Connections): void => {
    if (connections === current || connections.requests > 0 || !open.delete(connections)) return;
    const closed = connections.raw.close().finally(() => closing.delete(closed));
    closing.add(closed);
  };

  return {
    send: async (request, headers, signal) => {
      const connections = current;
      connections.requests += 1;
      try {
        return await connections.raw.send(request, headers, signal);
      } finally {
        connections.requests -= 1;
        closeIfDone(connections);
      }
    },
    replace: (next) => {
      const replaced = current;
      current = { raw: next, requests: 0 };
      open.add(current);
      closeIfDone(replaced);
    },
    close: async () => {
      const all = [...open];
      open.clear();
      await Promise.all([...closing, ...all.map(async ({ raw }) => raw.close())]);
    },
  };
}
