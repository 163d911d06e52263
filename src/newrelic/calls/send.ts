import { setMaxListeners } from 'node:events';
import { ApiError, type FailureReason, failures } from '../../model/api-error.ts';
import { type Clock, sleep } from '../../model/clock.ts';
import type { ApiKeyHeader } from '../../model/config.ts';
import type { Permit } from '../../model/permit.ts';
import type { ApiObserver, Logger } from '../../model/telemetry.ts';
import type { AccountCalls } from './account-calls.ts';
import { pauseOf, retryAfterMs } from './throttle-pause.ts';
import type { ApiRequest, ApiResponse, KeyProvider, RawTransport, Transport } from './transport.ts';
import { statusReason } from './transport-errors.ts';
import { VendorClock } from './vendor-clock.ts';

/** A retry waits up to so long; if New Relic asks for more, the next poll is the retry. */
const mostDelayMs = 1000;
/** Some applications are forbidden for good, so not every 403 is worth reading the key again. */
const forbiddenGapMs = 10_000;

/** How each request is sent. */
export interface SendSettings {
  readonly apiKeyHeader: ApiKeyHeader;
  /** One request, from its start to the last byte. */
  readonly timeoutMs: number;
}

export interface AccountTransportOptions extends SendSettings {
  /** Named in errors. */
  readonly baseUrl: string;
  /**
   * The status that an answer should have had, for an API that reports failures under 200. Default:
   * the one that it has.
   */
  readonly statusOf?: ((answer: ApiResponse) => number) | undefined;
}

export interface AccountTransportContext {
  /** The account's name, for the log. */
  readonly account: string;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer: ApiObserver;
  readonly keyProvider: KeyProvider;
  readonly calls: AccountCalls;
}

interface SentRequest extends ApiRequest {
  readonly permit: Permit;
  readonly sentMs: number;
  readonly waitedMs: number;
}

/** Everything that one account needs to talk to the vendor. */
export class AccountTransport {
  readonly #context: AccountTransportContext;
  readonly #host: string;
  readonly #statusOf: (answer: ApiResponse) => number;
  readonly vendorClock: VendorClock;
  #settings: SendSettings;
  #connections: OpenTransports;
  /** Those that were replaced and still have requests on them, or are being closed. */
  readonly #replaced = new Set<OpenTransports>();
  #reloading: Promise<boolean> | undefined;
  #reloadedMs = Number.NEGATIVE_INFINITY;

  /** @param raw the connections to the vendor, until `reconfigure` gives others */
  constructor(
    options: AccountTransportOptions,
    raw: RawTransport,
    context: AccountTransportContext,
  ) {
    this.#context = context;
    this.#settings = options;
    this.#host = new URL(options.baseUrl).host;
    this.#statusOf = options.statusOf ?? (({ status }) => status);
    this.#connections = new OpenTransports(raw);
    this.vendorClock = new VendorClock(context.clock);
  }

  /**
   * The only place that tries failures again: once, a little later, in the place of its job. Gives the last answer,
   * or throws the last error. A 429 is no failure of what was asked for: the key makes it wait, as often as it takes.
   */
  readonly send: Transport = async (first, signal) => {
    // One signal serves many calls at a time; Node.js would take the eleventh for a leak.
    setMaxListeners(0, signal);
    let request = first;
    let mayRetry = first.mayRetry !== false;
    for (let attempt = 2; ; attempt += 1) {
      const answer = await this.#sendWithNewKey(request, signal).catch(apiErrorOnly);
      // Given up by its caller, it has not failed.
      if (signal.aborted && answer === signal.reason) throw signal.reason;
      const reason = answer instanceof ApiError ? answer.reason : statusReason(answer.status);
      const delayMs = this.#delayMsAfter(answer, reason, mayRetry);
      if (delayMs === undefined || reason === undefined) {
        if (answer instanceof ApiError) throw answer;
        return answer;
      }
      if (reason !== 'throttled') mayRetry = false;
      if (delayMs > 0) await sleep(this.#context.clock, delayMs, signal);
      request = { ...first, attempt, retriedFor: reason };
    }
  };

  /** How long to wait before the same is sent again; `undefined` if it is not, or if that is for the next poll. */
  #delayMsAfter(
    answer: ApiResponse | ApiError,
    reason: FailureReason | undefined,
    mayRetry: boolean,
  ): number | undefined {
    const isAnswer = !(answer instanceof ApiError);
    if (reason === 'throttled') return isAnswer ? 0 : undefined;
    if (!mayRetry || reason === undefined || !failures[reason].isRetryable) return undefined;
    const { clock, random } = this.#context;
    const askedMs = isAnswer ? (retryAfterMs(answer.headers, clock.wallMs()) ?? 0) : 0;
    if (askedMs > mostDelayMs) return undefined;
    return askedMs > 0 ? askedMs : random() * mostDelayMs;
  }

  /**
   * Other settings for all requests that leave from now on, and other connections if some are given.
   * What was sent on the old connections ends there; then they are closed.
   */
  reconfigure(settings: SendSettings, raw?: RawTransport): void {
    this.#settings = settings;
    if (raw === undefined) return;
    const before = this.#connections;
    this.#connections = new OpenTransports(raw);
    this.#replaced.add(before);
    void before.closeWhenUnused().finally(() => this.#replaced.delete(before));
  }

  /** Breaks off whatever is under way and closes every connection. */
  async close(): Promise<void> {
    const all = [this.#connections, ...this.#replaced];
    await Promise.all(all.map(async (connections) => connections.close()));
  }

  /** After a 401 or 403 reads the key again and, if the key has changed, sends the request once more. */
  async #sendWithNewKey(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { keyProvider } = this.#context;
    const [apiKey, answer] = await this.#sendInTurn(request, signal);
    const { status } = answer;
    if (status !== 401 && status !== 403) return answer;
    const isNew = keyProvider.current() !== apiKey || (await this.#reloadKey(status));
    if (!isNew) return answer;
    signal.throwIfAborted();
    const attempt = (request.attempt ?? 1) + 1;
    const again = { ...request, attempt, retriedFor: 'auth' } as const;
    return (await this.#sendInTurn(again, signal))[1];
  }

  /** Calls in flight fail together when a key is revoked: they share one reload. */
  async #reloadKey(status: 401 | 403): Promise<boolean> {
    const { clock, keyProvider } = this.#context;
    const isTooSoon = clock.monotonicMs() < this.#reloadedMs + forbiddenGapMs;
    if (this.#reloading === undefined && status === 403 && isTooSoon) return false;
    this.#reloading ??= keyProvider
      .reload()
      // The 401 or 403 in hand tells more than a key that cannot be read at this moment.
      .catch(() => false)
      .finally(() => {
        this.#reloading = undefined;
        this.#reloadedMs = clock.monotonicMs();
      });
    return this.#reloading;
  }

  /** Gives the key that was sent, too: it may have changed while the request waited. */
  async #sendInTurn(request: ApiRequest, signal: AbortSignal): Promise<[string, ApiResponse]> {
    const { clock, calls } = this.#context;
    const askedMs = clock.monotonicMs();
    const { job, permit: given } = request;
    const permit = given?.isOver() === false ? given : await calls.take(job, signal);
    const sentMs = clock.monotonicMs();
    let how: 'answered' | 'failed' | 'aborted' = 'answered';
    try {
      const sent = { ...request, permit, sentMs, waitedMs: sentMs - askedMs };
      return [permit.apiKey, await this.#measured(sent, signal)];
    } catch (error) {
      if (!(error instanceof ApiError)) how = 'aborted';
      else if (error.status === undefined) how = 'failed';
      throw error;
    } finally {
      permit.release(how);
    }
  }

  /** Counts and times every request that leaves the process. */
  async #measured(request: SentRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { clock, observer } = this.#context;
    const { operation, retriedFor, sentMs } = request;
    // Of a request that its caller aborted: it has neither a status nor a failure.
    let code = 'aborted';
    if (retriedFor !== undefined) observer.retried(operation, retriedFor);
    observer.started(operation);
    try {
      const answer = await this.#logged(request, signal);
      const reason = statusReason(answer.status);
      code = String(answer.status);
      if (reason !== undefined) observer.failed(operation, reason);
      if (reason === 'throttled') observer.throttled();
      return answer;
    } catch (error) {
      if (error instanceof ApiError) {
        code = String(error.status ?? error.reason);
        observer.failed(operation, error.reason);
      }
      throw error;
    } finally {
      observer.ended(operation, code, (clock.monotonicMs() - sentMs) / 1000);
    }
  }

  /** Writes one line for each request that leaves, at the level `debug`. */
  async #logged(request: SentRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { account, clock, logger } = this.#context;
    if (logger.isDebugging !== true) return this.#answered(request, signal);
    const { operation, target, body, sentMs, waitedMs, attempt = 1 } = request;
    const asked =
      body === undefined ? { method: 'GET' } : { method: 'POST', variables: variablesIn(body) };
    const write = (result: Readonly<Record<string, unknown>>): void => {
      const times = {
        duration_ms: Math.round(clock.monotonicMs() - sentMs),
        waited_for_budget_ms: Math.round(waitedMs),
      };
      const fields = { account, operation, ...asked, target, ...result, ...times, attempt };
      logger.debug(fields, 'call to New Relic');
    };
    try {
      const answer = await this.#answered(request, signal);
      const bytes = Buffer.byteLength(answer.body);
      write({ status: answer.status, reason: statusReason(answer.status), bytes });
      return answer;
    } catch (error) {
      const isKnown = error instanceof ApiError;
      write(
        isKnown ? { status: error.status, reason: error.reason, error } : { reason: 'aborted' },
      );
      throw error;
    }
  }

  /**
   * The answer with the status that it should have had: everything outside decides by it. The pause that a 429
   * asks for counts from when the vendor gave it, not from when it arrived: a late answer about the vendor's
   * last minute must not delay the next minute.
   */
  async #answered(request: SentRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { clock } = this.#context;
    const { permit, sentMs } = request;
    const answer = await this.#inTime(request, signal);
    const { headers } = answer;
    const status = this.#statusOf(answer);
    this.vendorClock.answered(headers);
    if (status === 429) {
      const { ms, cause } = pauseOf(headers, clock.wallMs());
      const untilMs = this.vendorClock.answeredAtMs(headers, sentMs) + ms;
      permit.throttled({ sentMs, untilMs, cause });
    }
    return { ...answer, status };
  }

  /**
   * Ends a request that takes longer than the timeout with `ApiError('timeout')`, even if bytes still arrive.
   * When the caller aborts, it ends with the caller's reason.
   */
  async #inTime(request: SentRequest, signal: AbortSignal): Promise<ApiResponse> {
    signal.throwIfAborted();
    const { apiKeyHeader, timeoutMs: usualMs } = this.#settings;
    const timeoutMs = Math.min(usualMs, request.timeoutMs ?? Infinity);
    const controller = new AbortController();
    const onAbort = (): void => {
      controller.abort(signal.reason);
    };
    const cancelTimer = this.#context.clock.after(timeoutMs, () => {
      controller.abort(timeoutError(this.#host, timeoutMs, timeoutMs < usualMs));
    });
    signal.addEventListener('abort', onAbort);
    // The key goes nowhere else.
    const headers = { [apiKeyHeader]: request.permit.apiKey };
    try {
      return await new Promise((resolve, reject) => {
        controller.signal.addEventListener('abort', () => {
          reject(controller.signal.reason);
        });
        this.#connections.send(request, headers, controller.signal).then(resolve, reject);
      });
    } finally {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
    }
  }
}

function apiErrorOnly(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** What differs from call to call, without the middle of a long list of ids. */
function variablesIn(body: string): string {
  const text = /(?<="variables":).*(?=\}$)/su.exec(body)?.[0] ?? body;
  return text.replace(/^(.{700}).+(.{100})$/su, '$1…$2');
}

function timeoutError(host: string, timeoutMs: number, isOfRequest: boolean): ApiError {
  const remedy = isOfRequest ? 'look' : "raise the account's timeout or look";
  return new ApiError(
    'timeout',
    `${host}: no complete answer within ${timeoutMs / 1000} s; if this lasts, ${remedy} for a slow proxy or network`,
  );
}

/** The connections to the vendor, and the requests on them. */
class OpenTransports {
  readonly #raw: RawTransport;
  readonly #requests = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(raw: RawTransport) {
    this.#raw = raw;
  }

  readonly send: RawTransport['send'] = async (...asked) => {
    const sent = this.#raw.send(...asked);
    this.#requests.add(sent);
    return sent.finally(() => this.#requests.delete(sent));
  };

  async closeWhenUnused(): Promise<void> {
    while (this.#requests.size > 0) await Promise.allSettled(this.#requests);
    await this.close();
  }

  async close(): Promise<void> {
    this.#closed ??= this.#raw.close();
    await this.#closed;
  }
}
