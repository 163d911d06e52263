import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { ApiRequest, ApiResponse, TransportDecorator } from './transport.ts';
import { statusReason } from './transport-errors.ts';

/**
 * Writes one line for each request that leaves, at the level `debug`. `undefined` unless the logger
 * writes such lines.
 */
export function createCallLog(
  account: string,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): TransportDecorator | undefined {
  if (logger.isDebugging !== true) return undefined;

  return (next) => async (request, signal) => {
    const sentMs = clock.monotonicMs();
    const { waitedMs = 0, attempt = 1 } = request;
    const write = (result: Readonly<Record<string, unknown>>): void => {
      const times = {
        duration_ms: Math.round(clock.monotonicMs() - sentMs),
        waited_for_budget_ms: Math.round(waitedMs),
      };
      const fields = { account, ...callFields(request), ...result, ...times, attempt };
      logger.debug(fields, 'call to New Relic');
    };
    try {
      const response = await next(request, signal);
      write(answerFields(response));
      return response;
    } catch (error) {
      write(failureFields(error));
      throw error;
    }
  };
}

/** What differs from call to call, without the middle of a long list of ids. */
function variablesIn(body: string): string {
  const text = /(?<="variables":).*(?=\}$)/su.exec(body)?.[0] ?? body;
  return text.replace(/^(.{700}).+(.{100})$/su, '$1…$2');
}

function callFields({ operation, target, body }: ApiRequest): Readonly<Record<string, unknown>> {
  return body === undefined
    ? { operation, method: 'GET', target }
    : { operation, method: 'POST', target, variables: variablesIn(body) };
}

function answerFields({ status, body }: ApiResponse): Readonly<Record<string, unknown>> {
  return { status, reason: statusReason(status), bytes: Buffer.byteLength(body) };
}

/** A call that was given up has neither a status nor a reason. */
function failureFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof ApiError)) return { reason: 'aborted' };
  return { status: error.status, reason: error.reason, error };
}
