import { setMaxListeners } from 'node:events';
import type { FailureReason } from '../../../src/model/api-error.ts';
import type { ApiObserver, Operation } from '../../../src/model/telemetry.ts';
import type {
  ApiRequest,
  ApiResponse,
  KeyProvider,
  Transport,
} from '../../../src/newrelic/calls/transport.ts';

export function aRequest(operation: Operation = 'host_metrics'): ApiRequest {
  return { operation, target: '/v2/applications/1/hosts/2/metrics/data.json?summarize=true' };
}

export function anAnswer(status = 200, headers: ApiResponse['headers'] = {}): ApiResponse {
  return { status, headers, body: '{}' };
}

export const neverAborted: AbortSignal = new AbortController().signal;
setMaxListeners(0, neverAborted);

/** What a scripted transport does with one request. */
export type Step = ApiResponse | Error | ((signal: AbortSignal) => Promise<ApiResponse>);

export interface ScriptedTransport {
  readonly send: Transport;
  readonly requests: readonly ApiRequest[];
}

/** Answers one step per request, in order. A request beyond the script fails the test. */
export function scripted(...steps: readonly Step[]): ScriptedTransport {
  const requests: ApiRequest[] = [];
  const send: Transport = async (request, signal) => {
    const step = steps[requests.length];
    requests.push(request);
    if (step === undefined) throw new Error(`request ${requests.length} was not expected`);
    if (step instanceof Error) throw step;
    return typeof step === 'function' ? step(signal) : step;
  };
  return { send, requests };
}

/** A transport whose requests wait until the test answers them. */
export interface HeldTransport {
  readonly send: Transport;
  readonly requests: readonly ApiRequest[];
  /** Answers the oldest waiting request, or fails it. */
  answer(answer?: ApiResponse | Error): void;
  /** Answers every waiting request. */
  answerAll(answer?: ApiResponse): void;
}

export function held(): HeldTransport {
  const waiting: ((answer: ApiResponse | Promise<never>) => void)[] = [];
  const requests: ApiRequest[] = [];
  return {
    requests,
    send: async (request, signal) => {
      requests.push(request);
      return new Promise((resolve, reject) => {
        waiting.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    },
    answer: (answer = anAnswer()) => {
      const resolve = waiting.shift();
      if (resolve === undefined) throw new Error('no request waits for an answer');
      resolve(answer instanceof Error ? Promise.reject(answer) : answer);
    },
    answerAll: (answer = anAnswer()) => {
      for (const resolve of waiting.splice(0)) resolve(answer);
    },
  };
}

export interface RecordingObserver extends ApiObserver {
  /** One line per event, such as `ended host_metrics 200 0.5`. */
  readonly events: readonly string[];
}

export function createRecordingObserver(): RecordingObserver {
  const events: string[] = [];
  return {
    events,
    started: (operation: Operation) => events.push(`started ${operation}`),
    ended: (operation: Operation, code: string, seconds: number) =>
      events.push(`ended ${operation} ${code} ${seconds}`),
    failed: (operation: Operation, reason: FailureReason) =>
      events.push(`failed ${operation} ${reason}`),
    retried: (operation: Operation, reason: FailureReason) =>
      events.push(`retried ${operation} ${reason}`),
    throttled: () => events.push('throttled'),
    invalidSample: (reason) => events.push(`invalidSample ${reason}`),
    unexpected: (kind, count) => events.push(`unexpected ${kind} ${count}`),
  };
}

export interface FakeKeyProvider extends KeyProvider {
  /** Puts another key where `reload` will find it. */
  rotate(key: string): void;
  reloads(): number;
}

export function createFakeKeyProvider(key = 'key-1'): FakeKeyProvider {
  let current = key;
  let stored = key;
  let reloads = 0;
  return {
    current: () => current,
    rotate: (next) => {
      stored = next;
    },
    reload: async () => {
      reloads += 1;
      await Promise.resolve();
      const changed = stored !== current;
      current = stored;
      return changed;
    },
    reloads: () => reloads,
  };
}
