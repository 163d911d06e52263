import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../model/telemetry.ts';

interface Connection {
  /** The TCP connection, also below TLS. */
  readonly socket: Socket;
  /** Answers that its client has not read to the end; `undefined` before its first whole request. */
  unread: number | undefined;
}

/** Names a connection by its two ends: no two open ones have the same name, TLS or not. */
function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}

/**
 * The open connections of all listeners. None is refused: with one too many another one ends, so that a
 * probe always gets in. Of those without a whole request the oldest ends, but half of the limit is kept
 * for the newest, because each needs a moment to send one; else the one that has been idle longest; else
 * the one that has read longest.
 */
export class Connections {
  readonly #most: number;
  readonly #logger: Logger;
  /** By name, in the order in which they were opened, or else asked or were answered last. */
  readonly #open = new Map<string, Connection>();

  constructor(most: number, logger: Logger) {
    this.#most = most;
    this.#logger = logger;
  }

  opened(socket: Socket): void {
    const name = endsOf(socket);
    const connection: Connection = { socket, unread: undefined };
    this.#open.set(name, connection);
    socket.once('close', () => {
      if (this.#open.get(name) === connection) this.#open.delete(name);
    });
    if (this.#open.size > this.#most) this.#endOne();
  }

  /** The TCP connection of a connection, such as that of a TLS handshake. */
  transportOf(socket: Socket): Socket | undefined {
    return this.#open.get(endsOf(socket))?.socket;
  }

  /** The connection of the response is being answered until the response emits `close`. */
  answering(response: ServerResponse): void {
    const name = endsOf(response.req.socket);
    const connection = this.#open.get(name);
    const change = (difference: 1 | -1): void => {
      if (connection === undefined || this.#open.get(name) !== connection) return;
      connection.unread = (connection.unread ?? 0) + difference;
      this.#open.delete(name);
      this.#open.set(name, connection);
    };
    change(1);
    response.once('close', () => change(-1));
  }

  /** Ends all of them at once, those in a handshake too. */
  cutOff(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #endOne(): void {
    const all = [...this.#open];
    const unasked = all.filter(([, { unread }]) => unread === undefined);
    const idle = all.filter(([, { unread }]) => unread === 0);
    const reading = all.filter(([, { unread = 0 }]) => unread > 0);
    const [ending] = unasked.length > this.#most / 2 ? unasked : [...idle, ...reading];
    // Before its `close` event: more connections may be accepted until then.
    this.#open.delete(ending?.[0] ?? '');
    ending?.[1].socket.destroy();
    const fields = { max_connections: this.#most };
    this.#logger.warn(fields, 'too many connections, older ones are ended for new ones');
  }
}
