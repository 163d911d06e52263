import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { until } from '../support/daemon-process.ts';
import { onLinux } from '../support/tools.ts';
import { type Running, readReply, withServer } from '../web/harness.ts';

const clients = 1500;
/** What the server holds at most, and a few for the probes. */
const connectionsAtMost = 500 + 10;
const half = 'GET /metrics HTTP/1.1\r\nHost: x\r\n';

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

interface Flood {
  /** Connections made so far. */
  readonly made: () => number;
  readonly stop: () => void;
}

/** Clients that connect anew whenever they are dropped, and close nothing themselves. */
function startFlood(port: number, use: (socket: Socket) => void): Flood {
  const sockets = new Set<Socket>();
  let made = 0;
  let isOver = false;
  const join = (): void => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('connect', () => {
      made += 1;
      use(socket);
    });
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      sockets.delete(socket);
      if (!isOver) join();
    });
    socket.resume();
  };
  for (let client = 0; client < clients; client += 1) join();
  return {
    made: () => made,
    stop: () => {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Scrapes as Prometheus does; returns its end of the connection that it used. */
async function scrape(agent: Agent, port: number): Promise<Socket> {
  const sent = request({ host: '127.0.0.1', port, path: '/metrics', agent });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { socket } = response;
  const { status } = await readReply(response);
  expect(status).toBe(200);
  return socket;
}

/** Asks on connections of their own, one after the other; returns how long the longest took. */
async function slowestOf({ get }: Running, paths: readonly string[]): Promise<number> {
  let slowestMs = 0;
  for (const path of paths) {
    const startMs = performance.now();
    const { status } = await get(path);
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
    expect(status).toBe(200);
  }
  return slowestMs;
}

describe.skipIf(onLinux.skip)(`7 1500 clients that connect anew if dropped${onLinux.note}`, () => {
  it.each([
    { what: 'say nothing', use: () => undefined },
    { what: 'send half a request', use: (socket: Socket) => socket.write(half) },
    {
      what: 'send a byte at a time',
      use: (socket: Socket) => {
        socket.write('GET /');
        const timer = setInterval(() => socket.write('x'), 1000);
        socket.once('close', () => clearInterval(timer));
      },
    },
  ])('and $what shut nobody out', async ({ use }) => {
    await withServer({}, async (running) => {
      const scraper = new Agent({ keepAlive: true });
      const first = await scrape(scraper, running.port);
      const before = descriptors();
      const flood = startFlood(running.port, use);
      try {
        await until(async () => (flood.made() > clients ? true : undefined));
        const paths = Array.from({ length: 10 }, () => ['/-/healthy', '/metrics']).flat();
        const slowestMs = await slowestOf(running, paths);
        const during = descriptors();
        const second = await scrape(scraper, running.port);

        // Shut out, they would wait for a minute or for ever; a busy machine only takes seconds.
        expect(slowestMs).toBeLessThan(10_000);
        expect(second).toBe(first);
        expect(during).toBeLessThanOrEqual(before + clients + connectionsAtMost);
      } finally {
        flood.stop();
        scraper.destroy();
      }
      await until(async () => (descriptors() <= before + 10 ? true : undefined));
    });
  });
});
