import { describe, expect, it } from 'vitest';
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
