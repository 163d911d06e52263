import type { IncomingMessage } from 'node:http';
import type { Logger } from '../model/telemetry.ts';
import type { WebConfig } from '../model/web-config.ts';
import { pathOf, plainAnswer, type Route, type WebAnswer } from './answer.ts';
import { BasicAuth, type ComparePassword } from './basic-auth.ts';

/** Who may ask the server, and how. */
export interface Access {
  /** The active configuration: it counts from the next request on, its TLS from the next connection on. */
  readonly config: () => WebConfig;
  readonly comparePassword: ComparePassword;
}

/** What stands in for the answer to a probe without a password: orchestrators cannot send one. */
const openProbes: ReadonlyMap<string, { readonly good: string; readonly bad: string }> = new Map([
  ['/-/healthy', { good: 'Healthy.', bad: 'Unhealthy.' }],
  ['/-/ready', { good: 'Ready.', bad: 'Not ready.' }],
]);

/** Stands before all routes: asks for passwords, and adds headers to every answer. */
export function guarded(access: Access, logger: Logger, next: Route): Route {
  const auth = new BasicAuth(access.comparePassword);

  /** Why the request may not go on; `undefined` if it may. */
  const refusalOf = async ({
    headers,
    socket,
  }: IncomingMessage): Promise<WebAnswer | undefined> => {
    const client = socket.remoteAddress ?? '';
    const tryLater = { 'Retry-After': 1 };
    try {
      const verdict = await auth.check(access.config().users, headers.authorization, client);
      if (verdict === 'allowed') return undefined;
      if (verdict === 'busy') {
        return plainAnswer(429, 'Too many passwords wait to be checked. Try again.', tryLater);
      }
    } catch (error) {
      logger.error({ error }, 'password could not be checked');
      return plainAnswer(503, 'The password could not be checked. Try again.', tryLater);
    }
    // Browsers ask once without a password: only wrong ones are worth a warning.
    const level = headers.authorization === undefined ? 'debug' : 'warn';
    logger[level]({ client }, 'wrong user names or passwords refused');
    return plainAnswer(401, 'Unauthorized: this exporter asks for a user name and a password.', {
      'WWW-Authenticate': 'Basic realm="New Relic exporter", charset="UTF-8"',
    });
  };

  return async (request, response) => {
    const { users, headers } = access.config();
    const probe = openProbes.get(pathOf(request));
    const isOpen = probe !== undefined && request.headers.authorization === undefined;
    const refusal = isOpen || users.size === 0 ? undefined : await refusalOf(request);
    const full = refusal ?? (await next(request, response));
    const isHidden = isOpen && users.size > 0 && full.status !== 405;
    const answer = isHidden
      ? plainAnswer(full.status, full.status === 200 ? probe.good : probe.bad)
      : full;
    return { ...answer, headers: { ...answer.headers, ...headers } };
  };
}
