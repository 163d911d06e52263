import { describe, expect, it } from 'vitest';
import type { WebConfig } from '../../src/model/web-config.ts';
import type { Access } from '../../src/web/web-guard.ts';
import { anAccountDetails, aStatusSource } from '../support/status-source.ts';
import { withServer } from './harness.ts';

const open: WebConfig = { tls: undefined, users: new Map(), headers: {} };
const withUsers: WebConfig = { ...open, users: new Map([['alice', '$2y$10$hash']]) };

/** The password of everybody is `right`; `broken` cannot be compared. */
function accessWith(config: WebConfig): Access {
  return {
    config: () => config,
    comparePassword: async (_hash, password) => {
      if (password === 'broken') throw new Error('no thread');
      return password === 'right';
    },
  };
}

function as(
  user: string,
  password: string,
): { readonly headers: { readonly authorization: string } } {
  const token = Buffer.from(`${user}:${password}`).toString('base64');
  return { headers: { authorization: `Basic ${token}` } };
}

describe('with users', () => {
  it.each([
    { path: '/' },
    { path: '/metrics' },
    { path: '/nothing' },
    { path: '/-/reload' },
    { path: '/-/healthy/' },
    { path: '//-/healthy' },
  ])('$path needs a password', async ({ path }) => {
    await withServer({ access: accessWith(withUsers) }, async ({ get }) => {
      const { status, headers, body } = await get(path);

      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe('Basic realm="New Relic exporter", charset="UTF-8"');
      expect(body.toString()).toBe(
        'Unauthorized: this exporter asks for a user name and a password.\n',
      );
    });
  });

  it.each([
    { who: 'the right password', user: 'alice', password: 'right', status: 200 },
    { who: 'a wrong password', user: 'alice', password: 'wrong', status: 401 },
    { who: 'an unknown name', user: 'eve', password: 'right', status: 401 },
    { who: 'a password that cannot be checked', user: 'alice', password: 'broken', status: 503 },
  ])('$who gets $status', async ({ user, password, status }) => {
    await withServer({ access: accessWith(withUsers) }, async ({ get }) => {
      expect((await get('/metrics', as(user, password))).status).toBe(status);
    });
  });

  it.each([
    { path: '/-/healthy', state: {}, status: 200, text: 'Healthy.\n' },
    { path: '/-/healthy', state: { stalled: () => 'x' }, status: 503, text: 'Unhealthy.\n' },
    { path: '/-/ready', state: {}, status: 200, text: 'Ready.\n' },
    {
      path: '/-/ready?verbose',
      state: {
        status: aStatusSource({ accounts: [anAccountDetails({ firstCycleEnded: false })] }),
      },
      status: 503,
      text: 'Not ready.\n',
    },
  ])('a probe of $path without a password gets $status and a word', async (probe) => {
    await withServer({ access: accessWith(withUsers), ...probe.state }, async ({ get }) => {
      const { status, body } = await get(probe.path);

      expect([status, body.toString()]).toEqual([probe.status, probe.text]);
    });
  });

  it('a probe with a password gets the details, and none with a wrong one', async () => {
    await withServer({ access: accessWith(withUsers) }, async ({ get }) => {
      const right = await get('/-/ready', as('alice', 'right'));
      const wrong = await get('/-/ready', as('alice', 'wrong'));

      expect(right.body.toString()).toContain('"accounts":[');
      expect(wrong.status).toBe(401);
    });
  });

  it('wrong passwords are logged, of many the first three and then their count each minute, without name and password', async () => {
    await withServer({ access: accessWith(withUsers) }, async ({ get, clock, logger }) => {
      await get('/metrics');
      for (const password of ['1', '2', '3', '4', 'four']) await get('/', as('alice', password));
      await clock.advance(60_000);
      const warnings = logger.lines.filter(({ level }) => level === 'warn');

      expect(warnings.map(({ fields }) => fields['suppressed'])).toEqual([
        undefined,
        undefined,
        undefined,
        1,
      ]);
      expect(JSON.stringify(logger.lines)).not.toMatch(/alice|four/u);
    });
  });
});

describe('configured headers', () => {
  it('come with every answer, in place of our own', async () => {
    const headers = { 'X-Frame-Options': 'deny', 'Content-Security-Policy': "default-src 'self'" };
    await withServer({ access: accessWith({ ...withUsers, headers }) }, async ({ get }) => {
      const replies = [
        await get('/metrics', as('alice', 'right')),
        await get('/', as('alice', 'right')),
        await get('/metrics'),
        await get('/-/healthy'),
      ];

      for (const reply of replies) {
        expect(reply.headers['x-frame-options']).toBe('deny');
        expect(reply.headers['content-security-policy']).toBe("default-src 'self'");
        expect(reply.headers['x-content-type-options']).toBe('nosniff');
      }
    });
  });
});
