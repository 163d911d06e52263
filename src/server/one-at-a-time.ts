import type { IncomingMessage, ServerResponse } from 'node:http';
import pLimit from 'p-limit';
import { type Answer, plainAnswer } from './answer.ts';

export type Route = (
  request: IncomingMessage,
  response: ServerResponse,
) => Answer | Promise<Answer>;

export interface OneAtATimeDependencies {
  /** Resolves after other work of the process has had its turn. */
  readonly nextTurn: () => Promise<void>;
}

/**
 * Lets routes wait for each other. Each of them goes through all applications, and many browsers may ask
 * at the same moment. So a scrape waits for a part of one answer, not for all of them.
 */
export function createOneAtATime({ nextTurn }: OneAtATimeDependencies): (route: Route) => Route {
  const limit = pLimit(1);
  return (route) => async (request, response) =>
    limit(async () => {
      await nextTurn();
      if (request.socket.destroyed) return plainAnswer(503, 'The client did not wait.');
      return route(request, response);
    });
}
