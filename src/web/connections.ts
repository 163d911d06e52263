import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';

/**
 * The open connections. No new connection is refused: when there is one too many, another one ends,
 * so that a probe always gets in.
 *
 * Connections without a whole request end first, the oldest of them first. Half of the limit is kept
 * for the newest of these, because each needs a moment to send its request. Next come connections
 * that wait for another request, and last those that are being answered; in each group the one that
 * has waited longest.
 */
export interface Connections {
  opened(socket: Socket): void;
  /** The connection is being answered until the response emits `close`. */
  answering(socket: Socket, response: ServerResponse): void;
}

const warningIntervalMs = 60_000;

/** Sets and maps iterate in the order of insertion. */
function oldestOf(sockets: Iterable<Socket>): Socket | undefined {
  const [oldest] = sockets;
  return oldest;
}

/** @param maxConnections the limit of open connections, for all listeners together */
export function createConnections(
  maxConnections: number,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Connections {
  const unasked = new Set<Socket>();
  const idle = new Set<Socket>();
  const busy = new Map<Socket, Set<ServerResponse>>();
  let nextWarningMs = Number.NEGATIVE_INFINITY;

  const forget = (socket: Socket): void => {
    unasked.delete(socket);
    idle.delete(socket);
    const responses = busy.get(socket) ?? [];
    busy.delete(socket);
    // When a connection is gone, Node closes the response that is being sent. The responses to
    // pipelined requests behind it would stay open for ever.
    for (const response of responses) if (response.socket === null) response.emit('close');
  };

  const warn = (): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextWarningMs) return;
    nextWarningMs = nowMs + warningIntervalMs;
    logger.warn(
      { max_connections: maxConnections },
      'too many connections, older ones are ended for new ones',
    );
  };

  const evictOne = (): void => {
    const socket =
      unasked.size > maxConnections / 2
        ? oldestOf(unasked)
        : (oldestOf(idle) ?? oldestOf(busy.keys()));
    if (socket === undefined) return;
    // Before its `close` event: more connections may be accepted until then.
    forget(socket);
    socket.destroy();
    warn();
  };

  return {
    opened: (socket) => {
      unasked.add(socket);
      socket.once('close', () => {
        forget(socket);
      });
      if (unasked.size + idle.size + busy.size > maxConnections) evictOne();
    },
    answering: (socket, response) => {
      unasked.delete(socket);
      idle.delete(socket);
      const responses = busy.get(socket) ?? new Set();
      busy.set(socket, responses.add(response));
      response.once('close', () => {
        responses.delete(response);
        if (responses.size === 0 && busy.delete(socket) && !socket.destroyed) idle.add(socket);
      });
    },
  };
}
