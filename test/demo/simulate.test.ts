import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { minuteText } from '../../src/demo/simulate.ts';
import { settle } from '../support/fake-clock.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';

const key = 'NRAK-SIMULATED0000000000000000000';

/** Runs the command on a free port until the test is done with it. */
async function withSimulate(
  args: readonly string[],
  use: (url: string, platform: FakePlatform) => Promise<void>,
): Promise<void> {
  const platform = createFakePlatform();
  const ending = run(
    ['simulate', '--simulate.port=0', '--simulate.latency=0ms', ...args],
    platform,
  );
  const urlOf = (): string | undefined =>
    /listens on (http:\/\/127\.0\.0\.1:\d+)\n/u.exec(platform.stdout.text())?.[1];
  while (urlOf() === undefined) await settle();
  try {
    await use(urlOf() ?? '', platform);
  } finally {
    platform.stop();
    expect(await ending).toBe(0);
    expect(platform.clock.pendingTimers()).toBe(0);
  }
}

async function statusOf(url: string, apiKey = key): Promise<number> {
  const response = await fetch(url, {
    headers: { 'api-key': apiKey, accept: 'application/json', connection: 'close' },
  });
  await response.text();
  return response.status;
}

describe('simulate', () => {
  it('is a New Relic with the fleet that was asked for, and ends well when it is stopped', async () => {
    await withSimulate(
      ['--simulate.applications=3', '--simulate.hosts=7'],
      async (url, { stdout }) => {
        const response = await fetch(`${url}/v2/applications.json`, {
          headers: { 'api-key': key, accept: 'application/json', connection: 'close' },
        });
        const { applications } = (await response.json()) as { applications: readonly unknown[] };

        expect(applications).toHaveLength(3);
        expect(stdout.text()).toContain('3 applications with 7 hosts');
        expect(await statusOf(`${url}/v2/applications.json`, 'NRAK-OTHER')).toBe(401);
      },
    );
  });

  it('prints a configuration and commands that work as they are', async () => {
    await withSimulate(['--faults'], async (_url, { stdout }) => {
      const text = stdout.text();
      const [, block = ''] = /:\n\n((?: {2}.*\n)+)\nThen/u.exec(text) ?? [];
      const config = block.replaceAll(/^ {2}/gmu, '');
      const [, variable = '', value = ''] = /export (\w+)=(\S+)/u.exec(text) ?? [];
      const platform = createFakePlatform({
        files: { 'simulated.yaml': config },
        env: { [variable]: value },
      });

      const code = await run(['check-config', 'simulated.yaml'], platform);

      expect(platform.stderr.text()).toBe('');
      expect(code).toBe(0);
      expect(config).toContain('- name: "Checkout (staging)"');
      expect(text).toContain('(simulated, not a secret)');
    });
  });

  it('does what its faults say', async () => {
    await withSimulate(['--simulate.faults=wrong-key=1m'], async (url, { clock, stdout }) => {
      const before = await statusOf(`${url}/v2/applications.json`);
      await clock.advance(60_000);
      const after = await statusOf(`${url}/v2/applications.json`);

      expect([before, after]).toEqual([200, 401]);
      expect(stdout.text()).toContain(
        'faults    after 1 min the key is refused with status 401, as if it had been deleted',
      );
    });
  });

  it('says each minute what has arrived', async () => {
    await withSimulate(['--simulate.quota=2'], async (url, { clock, stdout }) => {
      const before = stdout.text().length;
      for (let calls = 0; calls < 3; calls += 1) await statusOf(`${url}/v2/applications.json`);
      await clock.advance(60_000);
      await clock.advance(60_000);

      expect(stdout.text().slice(before)).toBe(
        '10:01:30 UTC  3 requests, 1 refused: 1 status 429\n10:02:30 UTC  0 requests, none refused\n',
      );
    });
  });

  it.each([
    {
      args: ['--faults=fail-app=Billing Servcie'],
      says: 'the simulated account has no application "Billing Servcie": did you mean "Billing Service"?',
      code: 2,
    },
    {
      args: ['--faults=fail-app=zzz'],
      says: 'the simulated account has no application "zzz": there are Checkout (production), shop-checkout/api, ',
      code: 2,
    },
    {
      args: ['--faults=missing-app=Billing Service'],
      says: 'the simulated account has "Billing Service": give another name',
      code: 2,
    },
  ])('refuses $args', async ({ args, says, code }) => {
    const platform = createFakePlatform();

    expect(await run(['simulate', '--simulate.port=0', ...args], platform)).toBe(code);
    expect(platform.stderr.text()).toContain(says);
    expect(platform.stdout.text()).toBe('');
  });

  it('says that its port is taken', async () => {
    await withSimulate([], async (url) => {
      const { port } = new URL(url);
      const platform = createFakePlatform();

      expect(await run(['simulate', `--simulate.port=${port}`], platform)).toBe(1);
      expect(platform.stderr.text()).toBe(
        `The simulated New Relic: the port ${port} is in use by another process: stop that process, or choose another port with --simulate.port.\n`,
      );
    });
  });
});

describe('minuteText', () => {
  it('counts what was refused and what got no answer', () => {
    const statuses = [200, 429, 200, 500, undefined, 429];

    expect(minuteText(statuses.map((status) => ({ status })))).toBe(
      '6 requests, 4 refused: 2 status 429, 1 status 500, 1 without an answer',
    );
    expect(minuteText([{ status: 200 }])).toBe('1 request, none refused');
  });
});
