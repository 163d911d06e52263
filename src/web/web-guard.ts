import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { WebConfig } from '../model/web-config.ts';
import { type Answer, plainAnswer } from './answer.ts';
import { BasicAuth, type ComparePassword, type Users } from './basic-auth.ts';
import { pathOf } from './request-parts.ts';

export type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => Promise<Answer>;

/** Stands before all routes: passwords, and headers of every answer. */
export type WebGuard = (next: AnswerRequest) => AnswerRequest;

export interface WebGuardDependencies {
  /** The active configuration. */
  readonly config: () => WebConfig;
  readonly comparePassword: ComparePassword;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What stands in for the answer to a probe without a password: orchestrators cannot send one. */
const openProbes: ReadonlyMap<string, { readonly good: string; readonly bad: string }> = new Map([
  ['/-/healthy', { good: 'Healthy.', bad: 'Unhealthy.' }],
  ['/-/ready', { good: 'Ready.', bad: 'Not ready.' }],
]);

const warningIntervalMs = 60_000;

/** Creates the guard of a server. A new configuration counts from the next request on. */
export function createWebGuard({
  config: configNow,
  comparePassword,
  clock,
  logger,
}: WebGuardDependencies): WebGuard {
  const auth = new BasicAuth(comparePassword);
  let nextWarningMs = Number.NEGATIVE_INFINITY;
  let refused = 0;

  /** Browsers ask once without a password: only wrong ones are worth a warning. */
  const countRefused = (client: string, hasTried: boolean): void => {
    logger.debug({ client, has_tried: hasTried }, 'request without a right password refused');
    if (!hasTried) return;
    refused += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs < nextWarningMs) return;
    nextWarningMs = nowMs + warningIntervalMs;
    logger.warn({ client, refused }, 'wrong user names or passwords refused');
    refused = 0;
  };

  /** Why the request may not go on; `undefined` if it may. */
  const refusalOf = async (
    users: Users,
    { headers, socket }: IncomingMessage,
  ): Promise<Answer | undefined> => {
    const client = socket.remoteAddress ?? '';
    const tryLater = { 'Retry-After': 1 };
    try {
      const verdict = await auth.check(users, headers.authorization, client);
      if (verdict === 'allowed') return undefined;
      if (verdict === 'busy') {
        return plainAnswer(503, 'Too many passwords wait to be checked. Try again.', tryLater);
      }
    } catch (error) {
      logger.error({ error }, 'password could not be checked');
      return plainAnswer(503, 'The password could not be checked. Try again.', tryLater);
    }
    countRefused(client, headers.authorization !== undefined);
    return plainAnswer(401, 'Unauthorized: this exporter asks for a user name and a password.', {
      'WWW-Authenticate': 'Basic realm="New Relic exporter", charset="UTF-8"',
    });
  };

  return (next) => async (request, response) => {
    const { users, headers } = configNow();
    const probe = openProbes.get(pathOf(request));
    const isProbe = probe !== undefined && request.headers.authorization === undefined;
    const refusal = isProbe || users.size === 0 ? undefined : await refusalOf(users, request);
    const full = refusal ?? (await next(request, response));
    const isHidden = isProbe && users.size > 0 && full.status !== 405;
    const answer = isHidden
      ? plainAnswer(full.status, full.status === 200 ? probe.good : probe.bad)
      : full;
    return { ...answer, headers: { ...answer.headers, ...headers } };
  };
}
