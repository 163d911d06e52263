import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';

interface Connection {
  readonly name: string;
  /** The TCP connection, also below TLS. */
  readonly socket: Socket;
  /** To its requests that are being answered. */
  readonly responses: readonly ServerResponse[];
}

const warningIntervalMs = 60_000;

/** Names a connection by its two ends: no two open ones have the same name, TLS or not. */
function nameOf(socket: Socket): string {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}

/**
 * The open connections of all listeners. No new connection is refused: when there is one too many, another
 * one ends, so that a probe always gets in.
 *
 * Connections without a whole request end first, the oldest of them first. Half of the limit is kept
 * for the newest of these, because each needs a moment to send its request. Next come connections
 * that wait for another request, and last those that are being answered; in each group the one that
 * has waited longest.
 */
export class Connections {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Without a whole request until now, in the order in which they were opened. */
  readonly #unasked = new Map<string, Connection>();
  /** The others, in the order in which they asked or were answered last. */
  readonly #asked = new Map<string, Connection>();
  #nextWarningMs = Number.NEGATIVE_INFINITY;

  constructor(most: number, clock: Clock, logger: Logger) {
    this.#most = most;
    this.#clock = clock;
    this.#logger = logger;
  }

  opened(socket: Socket): void {
    const name = nameOf(socket);
    this.#unasked.set(name, { name, socket, responses: [] });
    socket.once('close', () => {
      if (this.#get(name)?.socket === socket) this.#forget(name);
    });
    if (this.#unasked.size + this.#asked.size > this.#most) this.#evictOne();
  }

  /** The TCP connection of a connection, such as that of a TLS handshake. */
  transportOf(socket: Socket): Socket | undefined {
    return this.#get(nameOf(socket))?.socket;
  }

  /** The connection of the response is being answered until the response emits `close`. */
  answering(response: ServerResponse): void {
    const name = nameOf(response.req.socket);
    this.#changed(name, (responses) => [...responses, response]);
    response.once('close', () =>
      this.#changed(name, (responses) => responses.filter((other) => other !== response)),
    );
  }

  /** Ends all of them at once, those in a handshake too. */
  cutOff(): void {
    for (const { socket } of [...this.#unasked.values(), ...this.#asked.values()]) socket.destroy();
  }

  #get(name: string): Connection | undefined {
    return this.#unasked.get(name) ?? this.#asked.get(name);
  }

  #changed(
    name: string,
    change: (responses: readonly ServerResponse[]) => readonly ServerResponse[],
  ): void {
    const connection = this.#get(name);
    if (connection === undefined) return;
    this.#unasked.delete(name);
    this.#asked.delete(name);
    this.#asked.set(name, { ...connection, responses: change(connection.responses) });
  }

  #forget(name: string): void {
    const { responses = [] } = this.#get(name) ?? {};
    this.#unasked.delete(name);
    this.#asked.delete(name);
    // When a connection is gone, Node closes the response that is being sent. The responses to
    // pipelined requests behind it would stay open for ever.
    for (const response of responses) if (response.socket === null) response.emit('close');
  }

  #evictOne(): void {
    const [oldestUnasked] = this.#unasked.values();
    const asked = [...this.#asked.values()];
    const oldest =
      this.#unasked.size > this.#most / 2
        ? oldestUnasked
        : (asked.find(({ responses }) => responses.length === 0) ?? asked[0]);
    if (oldest === undefined) return;
    // Before its `close` event: more connections may be accepted until then.
    this.#forget(oldest.name);
    oldest.socket.destroy();
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextWarningMs) return;
    this.#nextWarningMs = nowMs + warningIntervalMs;
    this.#logger.warn(
      { max_connections: this.#most },
      'too many connections, older ones are ended for new ones',
    );
  }
}
