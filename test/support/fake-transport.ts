import type { ApiRequest, ApiResponse, Transport } from '../../src/newrelic/calls/transport.ts';

/** What one call gets: an answer, or the error that the transport would reject with. */
export type ScriptedAnswer = ApiResponse | Error;

/** A transport that knows only the targets it was given, and keeps a record of the calls. */
export interface FakeTransport {
  readonly send: Transport;
  /** Every call so far, in order. */
  readonly calls: readonly ApiRequest[];
  /** The targets of the calls, percent-decoded, in order. */
  targets(): string[];
  /** Scripted answers that nobody asked for: a test that ends with some expected other calls. */
  unused(): string[];
}

/** An answer; a body that is no string is written as JSON. Status 200 unless stated otherwise. */
export function answerOf(
  body: unknown,
  options: { status?: number; headers?: ApiResponse['headers'] } = {},
): ApiResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status: options.status ?? 200, headers: options.headers ?? {}, body: text };
}

/**
 * Answers by percent-decoded target. Each scripted answer is given once, in order; a call for which
 * none is left fails with an error that is no `ApiError`, so that no code under test swallows it.
 */
export function createFakeTransport(
  script: Readonly<Record<string, ScriptedAnswer | readonly ScriptedAnswer[]>>,
): FakeTransport {
  const left = new Map<string, ScriptedAnswer[]>(
    Object.entries(script).map(([target, answers]) => [target, [answers].flat()]),
  );
  const calls: ApiRequest[] = [];
  return {
    calls,
    targets: () => calls.map(({ target }) => decodeURIComponent(target)),
    unused: () => [...left].filter(([, answers]) => answers.length > 0).map(([target]) => target),
    send: async (request, signal) => {
      signal.throwIfAborted();
      calls.push(request);
      const answer = left.get(decodeURIComponent(request.target))?.shift();
      if (answer === undefined) throw new Error(`A call nobody expected: ${request.target}`);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}
