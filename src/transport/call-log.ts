import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { ApiRequest, ApiResponse, TransportDecorator } from './transport.ts';
import { statusReason } from './transport-errors.ts';

export interface CallLogDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes one line for each request that leaves, at the level `debug`. `undefined` unless the logger
 * writes such lines.
 */
export function createCallLog(
  account: string,
  { clock, logger }: CallLogDependencies,
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

/** What was asked for, without the query: of that only the number of ids and the page are of interest. */
function callFields({ operation, target, body }: ApiRequest): Readonly<Record<string, unknown>> {
  const [path = '', query = ''] = target.split('?');
  const method = body === undefined ? 'GET' : 'POST';
  const ids = body === undefined ? idsInQuery(new URLSearchParams(query)) : idsInDocument(body);
  const app = /\/applications\/(\d+)/u.exec(path)?.[1];
  const host = /\/hosts\/(\d+)/u.exec(path)?.[1];
  return { operation, method, path, app_id: app, host_id: host, ...ids };
}

function idsInQuery(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const page = query.get('page');
  return {
    applications: query.get('filter[ids]')?.split(',').length,
    page: page === null ? undefined : Number(page),
  };
}

/** How many applications a query of NerdGraph names. */
function idsInDocument(body: string): Readonly<Record<string, unknown>> {
  const list = /\b(?:appId|domainId) IN \(([^)]*)\)/u.exec(body)?.[1];
  return { applications: list?.split(',').length };
}

function answerFields({ status, body }: ApiResponse): Readonly<Record<string, unknown>> {
  return { status, reason: statusReason(status), bytes: Buffer.byteLength(body) };
}

/** A call that was given up has neither a status nor a reason. */
function failureFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof ApiError)) return { reason: 'aborted' };
  return { status: error.status, reason: error.reason, error };
}
