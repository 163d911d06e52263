import { describe, expect, it } from 'vitest';
import type { AccountDetails, ReloadStatus } from '../../src/model/status.ts';
import { aProcessStatus, aStatusSource } from '../support/status-source.ts';
import { anAccountStatus, withServer } from './harness.ts';

describe('/-/ready', () => {
  it('is 503 with the progress until the first cycle of every account has ended', async () => {
    const accounts = [
      anAccountStatus({ name: 'a' }),
      anAccountStatus({
        name: 'b',
        firstCycleEnded: false,
        applications: 9,
        polledApplications: 4,
      }),
      anAccountStatus({
        name: 'c',
        up: undefined,
        firstCycleEnded: false,
        applications: 0,
        polledApplications: 0,
        hosts: 0,
      }),
    ];
    await withServer({ status: aStatusSource({ accounts }) }, async ({ get }) => {
      const { status: code, headers, body } = await get('/-/ready');

      expect(code).toBe(503);
      expect(headers['content-type']).toBe('application/json');
      expect(JSON.parse(body.toString())).toMatchObject({
        ready: false,
        shutting_down: false,
        config: null,
        accounts: [
          { name: 'a', phase: 'ready', up: true, applications: 2, polled: 2, hosts: 5 },
          { name: 'b', phase: 'polling', up: true, applications: 9, polled: 4, hosts: 5 },
          { name: 'c', phase: 'discovering', up: null, applications: 0, polled: 0, hosts: 0 },
        ],
      });
    });
  });

  it('is 503 with the reason while there is no configuration, and ready only with its accounts', async () => {
    const { reload } = aProcessStatus();
    const none = { ...reload, inForceSinceMs: undefined };
    let config: ReloadStatus = none;
    let accounts: readonly AccountDetails[] = [];
    const status = {
      ...aStatusSource(),
      accounts: () => accounts,
      process: () => aProcessStatus({ reload: config }),
    };
    await withServer({ status }, async ({ get }) => {
      const answers: unknown[] = [];
      const ask = async (): Promise<void> => {
        const { status: code, body } = await get('/-/ready');
        answers.push({ status: code, ...(JSON.parse(body.toString()) as object) });
      };
      await ask();
      config = { ...none, problem: 'no key' };
      await ask();
      config = reload;
      accounts = [anAccountStatus({ firstCycleEnded: false })];
      await ask();
      accounts = [anAccountStatus()];
      await ask();
      config = { ...reload, problem: 'a typo' };
      await ask();

      expect(answers).toMatchObject([
        { status: 503, ready: false, config: 'the configuration is being read', accounts: [] },
        { status: 503, ready: false, config: 'no key', accounts: [] },
        { status: 503, ready: false, config: null },
        { status: 200, ready: true, config: null },
        { status: 200, ready: true, config: 'a typo' },
      ]);
    });
  });

  it('stays 200 when a reload adds an account', async () => {
    let accounts: readonly AccountDetails[] = [anAccountStatus()];
    await withServer(
      { status: { ...aStatusSource(), accounts: () => accounts } },
      async ({ get }) => {
        const before = await get('/-/ready');
        accounts = [anAccountStatus(), anAccountStatus({ name: 'new', firstCycleEnded: false })];
        const after = await get('/-/ready');

        expect(before.status).toBe(200);
        expect(after.status).toBe(200);
      },
    );
  });

  it('is 503 at once when the shutdown begins, while the rest goes on', async () => {
    await withServer({}, async ({ get, server }) => {
      const before = await get('/-/ready');
      server.setNotReady();
      const after = await get('/-/ready');
      const scrape = await get('/metrics');

      expect(before.status).toBe(200);
      expect(after.status).toBe(503);
      expect(JSON.parse(after.body.toString())).toMatchObject({ shutting_down: true });
      expect(scrape.status).toBe(200);
    });
  });
});
