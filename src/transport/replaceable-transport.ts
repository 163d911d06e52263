import type { RawTransport } from './transport.ts';

/** The connections to one origin, which others can replace. */
export interface ReplaceableTransport extends RawTransport {
  /**
   * Sends through these connections from now on. What was sent through others ends there; then they
   * are closed.
   */
  replace(next: RawTransport): void;
}

interface Route {
  readonly raw: RawTransport;
  requests: number;
}

export function createReplaceableTransport(initial: RawTransport): ReplaceableTransport {
  let current = routeOf(initial);
  const open = new Set([current]);
  const closing = new Set<Promise<void>>();

  const closeIfDone = (route: Route): void => {
    if (route === current || route.requests > 0 || !open.delete(route)) return;
    const closed = route.raw.close().finally(() => closing.delete(closed));
    closing.add(closed);
  };

  return {
    send: async (request, headers, signal) => {
      const route = current;
      route.requests += 1;
      try {
        return await route.raw.send(request, headers, signal);
      } finally {
        route.requests -= 1;
        closeIfDone(route);
      }
    },
    replace: (next) => {
      const replaced = current;
      current = routeOf(next);
      open.add(current);
      closeIfDone(replaced);
    },
    close: async () => {
      const routes = [...open];
      open.clear();
      await Promise.all([...closing, ...routes.map(async ({ raw }) => raw.close())]);
    },
  };
}

function routeOf(raw: RawTransport): Route {
  return { raw, requests: 0 };
}
