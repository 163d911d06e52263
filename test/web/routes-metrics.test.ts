import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../src/publish/page.ts';
import { until } from '../support/daemon-process.ts';
import { slow } from '../support/slow.ts';
import { aHeldPage, aPage, open, readReply, withServer } from './harness.ts';

/** How many bytes of an answer can be read; `undefined` if it was cut off. */
async function lengthOf(response: IncomingMessage): Promise<number | undefined> {
  if (response.destroyed) return undefined;
  return readReply(response).then(
    ({ body }) => body.length,
    () => undefined,
  );
}

describe('the metrics path', () => {
  it('serves the page and then the metrics of the exporter itself', async () => {
    await withServer({}, async ({ get }) => {
      const { status, headers, body } = await get('/metrics?x=1');

      expect(status).toBe(200);
      expect(body.toString()).toBe('vendor 1\nself 1\n');
      expect(headers).toMatchObject({
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'content-length': '16',
        vary: 'Accept, Accept-Encoding',
        'x-content-type-options': 'nosniff',
      });
      expect(headers['content-encoding']).toBeUndefined();
      expect(headers['transfer-encoding']).toBeUndefined();
    });
  });

  it('serves the same in gzip to a client that accepts it, the stored bytes first', async () => {
    const page = await aPage('vendor 1\n'.repeat(1000));
    await withServer({ page: async () => page }, async ({ get }) => {
      const { headers, body } = await get('/metrics', { headers: { 'Accept-Encoding': 'gzip' } });

      expect(headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-length': String(body.length),
        vary: 'Accept, Accept-Encoding',
      });
      expect(body.includes(page.gzip)).toBe(true);
      expect(gunzipSync(body).toString()).toBe(
        `${Buffer.concat(page.identity).toString()}self 1\n`,
      );
      // The first gzip member, which is all that curl reads.
      expect(inflateRawSync(body.subarray(10)).toString()).toMatch(/\nself 1\n$/u);
    });
  });

  it.each([{ encoding: 'gzip' }, { encoding: 'identity' }])(
    'answers HEAD with the head of GET and no body ($encoding)',
    async ({ encoding }) => {
      await withServer({}, async ({ get }) => {
        const headers = { 'Accept-Encoding': encoding };
        const head = await get('/metrics', { method: 'HEAD', headers });
        const full = await get('/metrics', { headers });

        expect(head.body).toHaveLength(0);
        expect({ ...head.headers, date: '' }).toEqual({ ...full.headers, date: '' });
      });
    },
  );

  it.each([{ encoding: 'gzip' }, { encoding: 'identity' }])(
    'serves OpenMetrics to a client that wants it more ($encoding)',
    async ({ encoding }) => {
      const selfMetrics = async (): Promise<string> =>
        '# HELP a_total A.\n# TYPE a_total counter\na_total 0\nb 1\n';
      await withServer({ selfMetrics }, async ({ get }) => {
        const accept = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5,*/*;q=0.1';
        const { headers, body } = await get('/metrics', {
          headers: { Accept: accept, 'Accept-Encoding': encoding },
        });

        expect(headers).toMatchObject({
          'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8',
          'content-length': String(body.length),
          vary: 'Accept, Accept-Encoding',
        });
        const text = encoding === 'gzip' ? gunzipSync(body) : body;
        expect(text.toString()).toBe(
          'vendor 1\n# HELP a A.\n# TYPE a counter\na_total 0\nb 1\n# EOF\n',
        );
      });
    },
  );

  it('reports each request and what became of it, and no request for anything else', async () => {
    const held = aHeldPage(1);
    const scraped: number[] = [];
    const overrides = {
      maxRequests: 1,
      page: held.page,
      selfMetrics: async (): Promise<string> => {
        if (scraped.length > 2) throw new Error('out of memory');
        return '';
      },
      scraped: (status: number) => {
        scraped.push(status);
      },
    };
    await withServer(overrides, async ({ port, get }) => {
      const first = open(port, '/metrics');
      await held.asked;
      await get('/metrics');
      await get('/metrics', { method: 'POST' });
      await get('/-/healthy');
      await get('/nothing');
      held.release(await aPage('vendor 1\n'));
      await readReply(await first);
      await get('/metrics');

      expect(scraped).toEqual([503, 405, 200, 500]);
    });
  });

  it.each([{ source: 'page' }, { source: 'selfMetrics' }])(
    'answers 500 when the $source fails, logs it, and goes on',
    async ({ source }) => {
      let failures = 1;
      const failOnce = (): void => {
        failures -= 1;
        if (failures === 0) throw new Error('out of memory');
      };
      const page = async (): Promise<Page> => {
        if (source === 'page') failOnce();
        return aPage('vendor 1\n');
      };
      const selfMetrics = async (): Promise<string> => {
        if (source === 'selfMetrics') failOnce();
        return 'self 1\n';
      };
      await withServer({ page, selfMetrics }, async ({ get, logger }) => {
        const first = await get('/metrics');
        const second = await get('/metrics');

        expect(first.status).toBe(500);
        expect(first.body.toString()).not.toContain('out of memory');
        expect(logger.lines).toMatchObject([{ level: 'error', message: 'request failed' }]);
        expect(second.status).toBe(200);
      });
    },
  );

  it('refuses the scrape above the limit, serves the others, and accepts new ones afterwards', async () => {
    const held = aHeldPage(40);
    await withServer({ maxRequests: 40, page: held.page }, async ({ port, get }) => {
      const inFlight = Array.from({ length: 40 }, async () => open(port, '/metrics'));
      await held.asked;
      const refused = await get('/metrics');
      const healthy = await get('/-/healthy');
      const page = await aPage('vendor 1\n');
      held.release(page);
      const replies = await Promise.all(inFlight.map(async (each) => readReply(await each)));
      const after = await get('/metrics');

      expect(refused.status).toBe(503);
      expect(refused.body.toString()).toContain('40');
      expect(healthy.status).toBe(200);
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(40);
      expect(after.status).toBe(200);
    });
  });

  it('does not go on counting scrapes that a client had queued when it left', async () => {
    const queued = aHeldPage(2);
    const others = aHeldPage(2);
    let held = queued;
    const page = async (): Promise<Page> => held.page();
    await withServer({ maxRequests: 2, page }, async ({ port, get, clock }) => {
      const client = connect(port, '127.0.0.1');
      client.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
      await queued.asked;
      client.destroy();
      await until(() => (clock.pendingTimers() === 0 ? true : undefined), 5000);
      held = others;
      const replies = [get('/metrics'), get('/metrics')];
      // A scrape that is refused never asks for the page.
      await Promise.race([others.asked, ...replies]);
      others.release(await aPage('vendor 1\n'));

      expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200]);
    });
  });

  it(
    'ends the answer that has waited longest for its reader, when the limit is reached',
    slow,
    async () => {
      const page = await aPage('vendor 1\n'.repeat(2_000_000));
      const packed = { headers: { 'accept-encoding': 'gzip' } };
      await withServer({ maxRequests: 3, page: async () => page }, async ({ port, get }) => {
        const stalled = [await open(port, '/metrics'), await open(port, '/metrics')];
        stalled.push(await open(port, '/metrics'));
        const statuses: number[] = [];
        for (let scrape = 0; scrape < 10; scrape += 1) {
          statuses.push((await get('/metrics', packed)).status);
          // Whoever was cut off comes again.
          stalled.push(await open(port, '/metrics'));
        }
        const whole = Buffer.concat(page.identity).length + 'self 1\n'.length;

        expect(new Set(statuses)).toEqual(new Set([200]));
        expect(await Promise.all(stalled.map(lengthOf))).toEqual([
          ...Array.from({ length: 10 }, () => undefined),
          ...Array.from({ length: 3 }, () => whole),
        ]);
      });
    },
  );

  it('cuts off an answer that its client has not read completely in time, even if it reads slowly', async () => {
    const page = await aPage('vendor 1\n'.repeat(2_000_000));
    await withServer({ page: async () => page }, async ({ port, clock }) => {
      const response = await open(port, '/metrics');
      response.read();
      await clock.advance(29_000);
      response.read();
      const before = response.destroyed;
      await clock.advance(1000);

      expect(before).toBe(false);
      await expect(readReply(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
    });
  });

  it('does not log a client that hangs up', async () => {
    const page = await aPage('vendor 1\n'.repeat(1_000_000));
    await withServer({ page: async () => page }, async ({ port, get, logger }) => {
      const response = await open(port, '/metrics');
      response.socket.resetAndDestroy();
      await once(response.socket, 'close');
      const next = await get('/metrics');

      expect(next.status).toBe(200);
      expect(logger.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
    });
  });
});
