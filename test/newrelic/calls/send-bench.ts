import type { AccountConfig } from '../../../src/model/config.ts';
import type { AccountCalls } from '../../../src/newrelic/calls/account-calls.ts';
import { AccountTransport } from '../../../src/newrelic/calls/send.ts';
import type {
  ApiRequest,
  ApiResponse,
  KeyProvider,
  Transport,
} from '../../../src/newrelic/calls/transport.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../../support/fake-logger.ts';
import { accountCalls } from './call-fakes.ts';
import {
  aRequest,
  createFakeKeyProvider,
  createRecordingObserver,
  type FakeKeyProvider,
  neverAborted,
  type RecordingObserver,
} from './fakes.ts';

export interface SendBenchOptions {
  readonly account?: Partial<AccountConfig>;
  readonly statusOf?: (answer: ApiResponse) => number;
  /** What chance says. */
  readonly random?: number;
  readonly isDebugging?: boolean;
  /** Reads the key again; `read` is how it is read otherwise. */
  readonly reload?: (read: KeyProvider['reload']) => Promise<boolean>;
}

/** One account that sends over a wire of the test, with a key of its own. */
export interface SendBench {
  readonly transport: AccountTransport;
  /** Sends a request, by default one like any other. */
  readonly send: (request?: Partial<ApiRequest>, signal?: AbortSignal) => Promise<ApiResponse>;
  /** The status that a request ends with, or its failure. */
  readonly outcomeOf: (request?: Partial<ApiRequest>, signal?: AbortSignal) => Promise<unknown>;
  readonly calls: AccountCalls;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly observer: RecordingObserver;
  readonly keyProvider: FakeKeyProvider;
  /** The headers of each request on the wire. */
  readonly headers: Readonly<Record<string, string>>[];
  /** When each request went on the wire. */
  readonly sentAtMs: number[];
  readonly closed: () => number;
}

export function aSendBench(wire: Transport, options: SendBenchOptions = {}): SendBench {
  const { account, statusOf, random = 0.5, isDebugging = false, reload } = options;
  const clock = createFakeClock();
  const logger = { ...createFakeLogger(), isDebugging };
  const observer = createRecordingObserver();
  const stored = createFakeKeyProvider();
  const calls = accountCalls(clock, { concurrency: 100, ...account });
  const keyProvider: FakeKeyProvider = {
    ...stored,
    reload: async () => {
      const isNew = await (reload?.(async () => stored.reload()) ?? stored.reload());
      calls.rekey(stored.current());
      return isNew;
    },
  };
  const headers: Readonly<Record<string, string>>[] = [];
  const sentAtMs: number[] = [];
  let closed = 0;
  const raw = {
    send: async (
      request: ApiRequest,
      sent: Readonly<Record<string, string>>,
      signal: AbortSignal,
    ): Promise<ApiResponse> => {
      headers.push(sent);
      sentAtMs.push(clock.monotonicMs());
      return wire(request, signal);
    },
    close: async (): Promise<void> => {
      closed += 1;
    },
  };
  const transport = new AccountTransport(
    { baseUrl: 'https://api.newrelic.com', apiKeyHeader: 'Api-Key', timeoutMs: 30_000, statusOf },
    raw,
    {
      account: 'production',
      clock,
      random: () => random,
      logger,
      observer,
      keyProvider,
      calls,
    },
  );
  const send: SendBench['send'] = async (request = {}, signal = neverAborted) =>
    transport.send({ ...aRequest(), ...request }, signal);
  const outcomeOf: SendBench['outcomeOf'] = async (...asked) =>
    send(...asked).then(
      ({ status }) => status,
      (error: unknown) => error,
    );
  const log = { headers, sentAtMs, closed: () => closed };
  return { transport, send, outcomeOf, calls, clock, logger, observer, keyProvider, ...log };
}
