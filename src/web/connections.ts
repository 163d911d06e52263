import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';

interface Connection {
  readonly name: string;
  /** The TCP connection, also below TLS. */
  readonly socket: Socket;
  /** What a client is answered through: the TCP connection, or TLS after its handshake. */
  readonly speaker: Socket;
  /** To its requests that are being answered. */
  readonly responses: readonly ServerResponse[];
  /** Its bytes until its last answer ended: what comes after them begins a request. Before the first one: -1. */
  readonly bytesBefore: number;
  /** The tick that ends it unless it asks before; known from the first tick on. */
  lastTick: number;
}

const tickMs = 1000;
/** For a whole head, from the beginning of the connection or the first byte of a further request. */
const mostHeadTicks = 10;
/** Longer than a minute: clients that scrape every minute or faster keep their connection. */
export const mostIdleTicks = 65;
const lateAnswer = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

const warningIntervalMs = 60_000;
const nothing = (): void => undefined;

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
 *
 * Clients that do not ask in time are cut off, up to a second late. Time is counted in ticks: a standstill of the
 * process, however long, is one of them. Node's own limits go by the time, and after a standstill end
 * connections before it is read what came over them.
 */
export class Connections {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** By name, in the order in which they were opened, or else asked or were answered last. */
  readonly #open = new Map<string, Connection>();
  #nextWarningMs = Number.NEGATIVE_INFINITY;
  #ticks = 0;
  #cancelTick = nothing;

  constructor(most: number, clock: Clock, logger: Logger) {
    this.#most = most;
    this.#clock = clock;
    this.#logger = logger;
  }

  opened(socket: Socket): void {
    const name = nameOf(socket);
    if (this.#open.size === 0) this.#awaitTick();
    const times = { bytesBefore: -1, lastTick: Infinity };
    this.#open.set(name, { name, socket, speaker: socket, responses: [], ...times });
    socket.once('close', () => {
      if (this.#open.get(name)?.socket === socket) this.#forget(name);
    });
    if (this.#open.size > this.#most) this.#evictOne();
  }

  /** The handshake of TLS has ended. */
  secured(socket: Socket): void {
    const name = nameOf(socket);
    const connection = this.#open.get(name);
    if (connection !== undefined) this.#open.set(name, { ...connection, speaker: socket });
  }

  /** The TCP connection of a connection, such as that of a TLS handshake. */
  transportOf(socket: Socket): Socket | undefined {
    return this.#open.get(nameOf(socket))?.socket;
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
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #changed(
    name: string,
    change: (responses: readonly ServerResponse[]) => readonly ServerResponse[],
  ): void {
    const connection = this.#open.get(name);
    if (connection === undefined) return;
    this.#open.delete(name);
    this.#open.set(name, {
      ...connection,
      responses: change(connection.responses),
      bytesBefore: connection.socket.bytesRead,
      lastTick: Infinity,
    });
  }

  #awaitTick(): void {
    this.#cancelTick = this.#clock.after(tickMs, () => this.#tick());
  }

  #tick(): void {
    this.#ticks += 1;
    this.#awaitTick();
    for (const connection of this.#open.values()) {
      if (connection.responses.length === 0) this.#endIfLate(connection);
    }
  }

  #endIfLate(connection: Connection): void {
    const { name, socket, speaker, bytesBefore } = connection;
    const hasBegun = socket.bytesRead > bytesBefore;
    const mostTicks = hasBegun ? mostHeadTicks : mostIdleTicks;
    connection.lastTick = Math.min(connection.lastTick, this.#ticks + mostTicks);
    if (this.#ticks < connection.lastTick) return;
    if (hasBegun && speaker.writable) speaker.write(lateAnswer);
    this.#forget(name);
    socket.destroy();
  }

  #forget(name: string): void {
    const { responses = [] } = this.#open.get(name) ?? {};
    this.#open.delete(name);
    if (this.#open.size === 0) this.#cancelTick();
    // When a connection is gone, Node closes the response that is being sent. The responses to
    // pipelined requests behind it would stay open for ever.
    for (const response of responses) if (response.socket === null) response.emit('close');
  }

  #evictOne(): void {
    const unasked = [...this.#open.values()].filter(({ bytesBefore }) => bytesBefore === -1);
    const asked = [...this.#open.values()].filter(({ bytesBefore }) => bytesBefore !== -1);
    const oldest =
      unasked.length > this.#most / 2
        ? unasked[0]
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
