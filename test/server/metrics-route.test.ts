import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../src/exposition/page.ts';
import { prefersGzip } from '../../src/server/metrics-route.ts';
import { until } from '../support/daemon-process.ts';
import { aHeldPage, aPage, open, readReply, withServer } from './harness.ts';

describe('the metrics path', () => {
  it('serves the page and then the metrics of the exporter itself', async () => {
    await withServer({}, async ({ get }) => {
      const { status, headers, body } = await get('/metrics?x=1');

      expect(status).toBe(200);
      expect(body.toString()).toBe('vendor 1\nself 1\n');
      expect(headers).toMatchObject({
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'content-length': '16',
        vary: 'Accept-Encoding',
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
        vary: 'Accept-Encoding',
      });
      expect(body.subarray(0, page.gzip.length).equals(page.gzip)).toBe(true);
      expect(gunzipSync(body).toString()).toBe(`${page.identity.toString()}self 1\n`);
    });
  });

  it('serves it plain to a client that refuses gzip', async () => {
    await withServer({}, async ({ get }) => {
      const reply = await get('/metrics', { headers: { 'Accept-Encoding': 'gzip;q=0, *' } });

      expect(reply.body.toString()).toBe('vendor 1\nself 1\n');
    });
  });

  it('serves only the metrics of the exporter before the first poll', async () => {
    await withServer({ page: async () => aPage('') }, async ({ get }) => {
      const plain = await get('/metrics');
      const packed = await get('/metrics', { headers: { 'Accept-Encoding': 'gzip' } });

      expect(plain.body.toString()).toBe('self 1\n');
      expect(gunzipSync(packed.body).toString()).toBe('self 1\n');
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

  it('moves with the option', async () => {
    await withServer({ telemetryPath: '/vendor' }, async ({ get }) => {
      const there = await get('/vendor');
      const gone = await get('/metrics');
      const landing = await get('/');

      expect(there.status).toBe(200);
      expect(gone.status).toBe(404);
      expect(gone.body.toString()).toContain('/vendor');
      expect(landing.body.toString()).toContain('href="/vendor"');
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
      await others.asked;
      others.release(await aPage('vendor 1\n'));

      expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200]);
    });
  });

  it('serves a whole page to others while readers stall', async () => {
    const page = await aPage('vendor 1\n'.repeat(1_000_000));
    await withServer({ page: async () => page }, async ({ port, get }) => {
      const stalled = await Promise.all(
        Array.from({ length: 10 }, async () => open(port, '/metrics')),
      );
      const { body } = await get('/metrics');

      expect(body).toHaveLength(page.identity.length + 'self 1\n'.length);
      for (const response of stalled) response.destroy();
    });
  });

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

describe('prefersGzip', () => {
  it.each([
    { header: undefined, gzip: false },
    { header: '', gzip: false },
    { header: 'gzip', gzip: true },
    { header: 'GZip', gzip: true },
    { header: 'x-gzip', gzip: true },
    { header: 'deflate, gzip, br', gzip: true },
    { header: 'deflate, br', gzip: false },
    { header: 'gzip;q=0', gzip: false },
    { header: 'gzip; q=0.000', gzip: false },
    { header: 'gzip ; q=0.5', gzip: true },
    { header: 'gzip;Q=1.000', gzip: true },
    { header: '*', gzip: true },
    { header: '*;q=0', gzip: false },
    { header: 'gzip;q=0, *', gzip: false },
    { header: 'identity', gzip: false },
    { header: 'identity;q=0.5, gzip;q=0.4', gzip: false },
    { header: 'identity;q=0.5, gzip;q=0.5', gzip: true },
    { header: 'gzip;q=0.4, *;q=0.5', gzip: false },
    { header: 'identity;q=0, gzip;q=0.1', gzip: true },
    { header: 'gzip;q=2', gzip: false },
    { header: 'gzip;q=', gzip: false },
    { header: 'gzip;level=1', gzip: false },
    { header: 'gzipped', gzip: false },
    { header: ',,gzip,', gzip: true },
  ])('is $gzip for $header', ({ header, gzip }) => {
    expect(prefersGzip(header)).toBe(gzip);
  });
});
