import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { until } from '../support/daemon-process.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { type Serving, silentTransport, withServing } from '../support/serving.ts';

const one = 'accounts:\n  - { name: one, region: us, api_key_file: /keys/one }\n';
const oneOnly = `${one}apps:\n  - { match: "." }\n`;
const withCa = oneOnly.replace('/keys/one', '/keys/one, ca_file: /ca.pem');
const good: Readonly<Record<string, string>> = {
  '/config.yaml': oneOnly,
  '/keys/one': 'NRAK-ONE',
  '/keys/two': 'NRAK-TWO',
  '/ca.pem': rootCertificates[0] ?? '',
};

interface Bench extends Serving {
  readonly platform: FakePlatform;
  /** What its parent was told. */
  readonly told: readonly unknown[];
  /** The files of the platform; a test may change them. */
  readonly files: Record<string, string | undefined>;
  /** Origins of the connections that were opened. */
  readonly opened: readonly string[];
}

/** Runs `serve --config.wait` with the good files, except those given here. */
async function waiting(
  missing: Readonly<Record<string, string | undefined>>,
  use: (bench: Bench) => Promise<void>,
  args: readonly string[] = [],
): Promise<void> {
  const files: Record<string, string> = { ...good };
  const opened: string[] = [];
  for (const [path, text] of Object.entries(missing)) {
    if (text === undefined) delete files[path];
    else files[path] = text;
  }
  const told: unknown[] = [];
  const fake = createFakePlatform({
    files,
    openTransport: async ({ baseUrl }) => {
      opened.push(baseUrl);
      return silentTransport;
    },
  });
  const platform: FakePlatform = { ...fake, tellParent: (message) => told.push(message) };
  await withServing(['--config.wait', ...args], platform, async (serving) => {
    await platform.clock.advance(0);
    await use({ ...serving, platform, files, opened, told });
  });
  expect(platform.clock.pendingTimers()).toBe(0);
}

/** Two seconds, and the time that loading modules takes meanwhile. */
async function soon({ platform, lines }: Pick<Bench, 'platform' | 'lines'>): Promise<void> {
  await platform.clock.advance(2000);
  await until(async () => {
    await platform.clock.advance(0);
    return lines('configuration found').length > 0 ? true : undefined;
  });
}

/** Puts the good files in their places. */
function mend(files: Bench['files'], ...paths: readonly string[]): void {
  for (const path of paths) files[path] = good[path];
}

const obstacles = [
  {
    what: 'there is no configuration file',
    missing: { '/config.yaml': undefined },
    says: '/config.yaml: the configuration file does not exist',
  },
  {
    what: 'it has a bad regular expression',
    missing: { '/config.yaml': `${one}apps:\n  - { match: "shop-(" }\n` },
    says: 'regular expression',
  },
  {
    what: 'there is no key file',
    missing: { '/keys/one': undefined },
    says: 'the API key file /keys/one does not exist',
  },
  { what: 'the key file is empty', missing: { '/keys/one': ' \n' }, says: '/keys/one is empty' },
  {
    what: 'there is no CA file',
    missing: { '/config.yaml': withCa, '/ca.pem': undefined },
    says: 'the CA file /ca.pem does not exist',
  },
  {
    what: 'the CA file is broken',
    missing: { '/config.yaml': withCa, '/ca.pem': '-----BEGIN CERTIFICATE-----\nAA' },
    says: 'the CA file /ca.pem has a broken certificate',
  },
] as const;

describe('a daemon that waits for its configuration', () => {
  it.each(obstacles)(
    'serves what is wrong, and polls within seconds after it is mended: $what',
    async ({ missing, says }) => {
      await waiting(missing, async ({ platform, files, opened, lines, page }) => {
        await platform.clock.advance(600_000);
        const healthy = await page('/-/healthy');
        const ready = await page('/-/ready');
        const status = await page('/');
        const metrics = await page('/metrics');
        const before = opened.length;
        const failures = lines('no usable configuration');
        mend(files, ...Object.keys(missing));
        await soon({ platform, lines });

        expect(healthy.status).toBe(200);
        expect(ready.status).toBe(503);
        expect(JSON.parse(ready.text)).toMatchObject({ ready: false, accounts: [] });
        expect((JSON.parse(ready.text) as { readonly config: string }).config).toContain(says);
        expect(status.text).toContain(says);
        expect(status.text).toContain('This process polls no account');
        expect(metrics.status).toBe(200);
        expect(metrics.text).toContain('newrelic_exporter_config_last_reload_successful 0\n');
        expect(metrics.text).toContain('last_reload_success_timestamp_seconds 0\n');
        expect(metrics.text).not.toContain('account=');
        expect(failures).toHaveLength(1);
        expect(failures[0]?.['problem']).toContain(says);
        expect(before).toBe(0);
        expect(opened).toHaveLength(1);
        expect(lines('configuration found')).toHaveLength(1);
        expect((await page('/metrics')).text).toContain('last_reload_successful 1\n');
        expect(JSON.parse((await page('/-/ready')).text)).toMatchObject({
          ready: false,
          config: null,
          accounts: [{ name: 'one' }],
        });
      });
    },
  );

  it('says everywhere that it waits for a file which is not there', async () => {
    await waiting({ '/config.yaml': undefined }, async ({ lines, page }) => {
      const problem =
        '/config.yaml: the configuration file does not exist\n    = help: it has to be made, or mounted: with --config.wait the exporter waits for it';
      const status = await page('/');
      const targets = JSON.parse((await page('/api/v1/targets')).text) as unknown;

      expect(status.text).toContain('Waiting for the configuration');
      expect(status.text).toContain(problem);
      expect(targets).toMatchObject({ data: { process: { config: { problem } } } });
      expect(lines('no usable configuration')).toMatchObject([
        { problem, remedy: expect.stringContaining('make or correct it') as unknown },
      ]);
    });
  });

  it.each([
    { what: 'the signal', ask: async ({ platform }: Bench) => platform.hangup() },
    { what: 'POST /-/reload', ask: async ({ page }: Bench) => page('/-/reload', 'POST') },
  ])('tries at once when it is asked to: by $what', async ({ ask }) => {
    await waiting(
      { '/config.yaml': undefined },
      async (bench) => {
        mend(bench.files, '/config.yaml');
        const startMs = bench.platform.clock.monotonicMs();
        await ask(bench);
        await until(async () => {
          await bench.platform.clock.advance(0);
          return bench.lines('configuration found').length > 0 ? true : undefined;
        });
        expect(bench.platform.clock.monotonicMs()).toBe(startMs);

        expect(bench.opened).toHaveLength(1);
      },
      ['--web.enable-lifecycle'],
    );
  });

  it('answers a reload over HTTP with what is still wrong', async () => {
    await waiting(
      { '/keys/one': undefined },
      async ({ page }) => {
        const answer = await page('/-/reload', 'POST');

        expect(answer.status).toBe(500);
        expect(answer.text).toContain('the API key file /keys/one does not exist');
      },
      ['--web.enable-lifecycle'],
    );
  });

  it('waits as well when the budget cannot be divided among the shards', async () => {
    const small = oneOnly.replace('/keys/one', '/keys/one, requests_per_minute: 1');
    await waiting(
      { '/config.yaml': small },
      async ({ platform, files, opened, lines, page }) => {
        const { text } = await page('/-/ready');
        mend(files, '/config.yaml');
        await soon({ platform, lines });

        expect(text).toContain('cannot be divided among 2 shards');
        expect(opened).toHaveLength(1);
      },
      ['--total-shards=2', '--shard=0'],
    );
  });

  it('sends its parent heartbeats from the start on', async () => {
    await waiting({ '/config.yaml': undefined }, async ({ platform, files, lines, told }) => {
      const atOnce = told.length;
      await platform.clock.advance(20_000);
      mend(files, '/config.yaml');
      await soon({ platform, lines });
      await platform.clock.advance(10_000);

      expect(atOnce).toBe(1);
      expect(told).toEqual(Array.from({ length: 4 }, () => ''));
    });
  });

  it('shows no secret that a problem contains', async () => {
    await waiting(
      { '/keys/one': undefined, '/config.yaml': `${oneOnly}NRAK-SECRET: 1\n` },
      async ({ platform, page }) => {
        const texts = [
          platform.stderr.text(),
          (await page('/')).text,
          (await page('/-/ready')).text,
        ];

        expect(texts.join('\n')).toContain('must not be in this file');
        expect(texts.join('\n')).not.toContain('NRAK-SECRET');
      },
    );
  });
});

describe('a daemon that does not wait', () => {
  it.each(obstacles)(
    'ends with 2 and says why, before it listens: $what',
    async ({ missing, says }) => {
      const files = Object.fromEntries(
        Object.entries({ ...good, ...missing }).filter(
          (entry): entry is [string, string] => entry[1] !== undefined,
        ),
      );
      const platform = createFakePlatform({ files });

      const code = await run(
        ['serve', '--config.file=/config.yaml', '--log.format=json'],
        platform,
      );

      expect(code).toBe(2);
      expect(platform.stderr.text()).toContain(says);
      expect(platform.stderr.text()).not.toContain('"level"');
      expect(platform.clock.pendingTimers()).toBe(0);
    },
  );
});
