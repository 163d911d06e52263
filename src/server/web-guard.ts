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

/** A refusal, or `undefined` if the request may go on. */
type Refusal = Answer | undefined;

class Guard {
  readonly #dependencies: WebGuardDependencies;
  readonly #auth: BasicAuth;
  #nextWarningMs = Number.NEGATIVE_INFINITY;
  #refused = 0;

  constructor(dependencies: WebGuardDependencies) {
    this.#dependencies = dependencies;
    this.#auth = new BasicAuth({ compare: dependencies.comparePassword });
  }

  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    next: AnswerRequest,
  ): Promise<Answer> {
    const config = this.#dependencies.config();
    const answer = await this.#guarded(config, request, async () => next(request, response));
    return { ...answer, headers: { ...answer.headers, ...config.headers } };
  }

  async #guarded(
    config: WebConfig,
    request: IncomingMessage,
    next: () => Promise<Answer>,
  ): Promise<Answer> {
    const probe = openProbes.get(pathOf(request));
    if (probe !== undefined && request.headers.authorization === undefined) {
      const answer = await next();
      if (config.users.size === 0 || answer.status === 405) return answer;
      return plainAnswer(answer.status, answer.status === 200 ? probe.good : probe.bad);
    }
    const { users } = config;
    return (users.size === 0 ? undefined : await this.#withoutRight(users, request)) ?? next();
  }

  async #withoutRight(users: Users, { headers, socket }: IncomingMessage): Promise<Refusal> {
    const client = socket.remoteAddress ?? '';
    const tryLater = { 'Retry-After': 1 };
    try {
      const verdict = await this.#auth.check(users, headers.authorization, client);
      if (verdict === 'allowed') return undefined;
      if (verdict === 'busy') {
        return plainAnswer(503, 'Too many passwords wait to be checked. Try again.', tryLater);
      }
    } catch (error) {
      this.#dependencies.logger.error({ error }, 'password could not be checked');
      return plainAnswer(503, 'The password could not be checked. Try again.', tryLater);
    }
    this.#countRefused(client, headers.authorization !== undefined);
    return plainAnswer(401, 'Unauthorized: this exporter asks for a user name and a password.', {
      'WWW-Authenticate': 'Basic realm="New Relic exporter", charset="UTF-8"',
    });
  }

  /** Browsers ask once without a password: only wrong ones are worth a warning. */
  #countRefused(client: string, hasTried: boolean): void {
    const { clock, logger } = this.#dependencies;
    logger.debug({ client, has_tried: hasTried }, 'request without a right password refused');
    if (!hasTried) return;
    this.#refused += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#nextWarningMs) return;
    this.#nextWarningMs = nowMs + warningIntervalMs;
    logger.warn({ client, refused: this.#refused }, 'wrong user names or passwords refused');
    this.#refused = 0;
  }
}

/** Creates the guard of a server. A new configuration counts from the next request on. */
export function createWebGuard(dependencies: WebGuardDependencies): WebGuard {
  const guard = new Guard(dependencies);
  return (next) => async (request, response) => guard.answer(request, response, next);
}
