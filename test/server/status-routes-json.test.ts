import { describe, expect, it } from 'vitest';
import { aProcessStatus, aStatusSource } from '../support/status-source.ts';
import { withServer } from './harness.ts';

describe('/api/v1/targets', () => {
  it('is JSON that nobody stores', async () => {
    await withServer({}, async ({ get }) => {
      const { status, headers, body } = await get('/api/v1/targets?state=active');

      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json');
      expect(headers['cache-control']).toBe('no-store');
      expect(JSON.parse(body.toString())).toMatchObject({ status: 'success' });
    });
  });

  it('refuses an unknown state as Prometheus refuses a bad parameter', async () => {
    await withServer({}, async ({ get }) => {
      const { status, body } = await get('/api/v1/targets?state=sick');

      expect(status).toBe(400);
      expect(JSON.parse(body.toString())).toEqual({
        status: 'error',
        errorType: 'bad_data',
        error: 'the parameter "state" must be any, active or dropped',
      });
    });
  });
});

describe('/api/v1/sd', () => {
  it('names the address that was asked when there are no shards', async () => {
    await withServer({}, async ({ get, port }) => {
      const { status, headers, body } = await get('/api/v1/sd');

      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json');
      expect(JSON.parse(body.toString())).toMatchObject([{ targets: [`127.0.0.1:${port}`] }]);
    });
  });

  it.each([
    { what: 'a host that is no address', total: 1, headers: { host: 'a,b' }, status: 400 },
    { what: 'shards without addresses', total: 2, headers: {}, status: 503 },
  ])('is an error and never an empty list: $what', async ({ total, headers, status }) => {
    const source = aStatusSource({ process: aProcessStatus({ shard: { ordinal: 0, total } }) });
    await withServer({ status: source }, async ({ get }) => {
      const reply = await get('/api/v1/sd', { headers });

      expect(reply.status).toBe(status);
      expect(reply.body.toString()).toContain('--web.shard-address');
    });
  });
});
