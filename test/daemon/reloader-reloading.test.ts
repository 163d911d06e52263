import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import type { RawTransport } from '../../src/transport/transport.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';

const one = 'accounts:\n  - { name: one, region: us, api_key_file: /keys/one }\n';
const two = '  - { name: two, region: eu, api_key_file: /keys/two }\n';
const oneOnly = `${one}apps:\n  - { match: "." }\n`;
const oneAndTwo = `${one}${two}apps:\n  - { match: ".", account: one }\n  - { match: ".", account: two }\n`;

interface Bench {
  readonly platform: FakePlatform;
  readonly files: Record<string, string>;
  /** Messages of the log that begin with the words, with what the line says. */
  readonly lines: (message: string) => readonly Readonly<Record<string, unknown>>[];
}

const silent: RawTransport = {
  send: async (_request, _options, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    }),
  close: async () => undefined,
};

/** Runs `serve` with the files, with a vendor that never answers. */
async function serving(
  files: Record<string, string>,
  options: { readonly interval?: string; readonly whileStarting?: () => void },
  use: (bench: Bench) => Promise<void>,
): Promise<void> {
  const platform = createFakePlatform({
    files,
    openTransport: async () => {
      options.whileStarting?.();
      return silent;
    },
  });
  const interval = `--config.auto-reload-interval=${options.interval ?? '30s'}`;
  const args = ['serve', '--config.file=/config.yaml', '--web.listen-address=127.0.0.1:0'];
  const ending = run([...args, '--log.format=json', interval], platform);
  const lines = (message: string): readonly Readonly<Record<string, unknown>>[] =>
    platform.stderr
      .text()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}`))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  while (lines('listening').length === 0) await platform.clock.advance(0);
  await use({ platform, files, lines });
  platform.stop();
  const state = { hasEnded: false };
  const ended = ending.finally(() => {
    state.hasEnded = true;
  });
  while (!state.hasEnded) await platform.clock.advance(1000);
  expect(await ended).toBe(0);
}

describe('a configuration that arrives some time before the key that it names', () => {
  it('is in force soon after the key is there, and its problem is logged once', async () => {
    const files = { '/config.yaml': oneOnly, '/keys/one': 'NRAK-ONE' };
    await serving(files, {}, async ({ platform, lines }) => {
      await platform.clock.advance(60_000);
      Object.assign(files, { '/config.yaml': oneAndTwo });
      await platform.clock.advance(300_000);
      const failures = lines('reload failed');
      Object.assign(files, { '/keys/two': 'NRAK-TWO' });
      await platform.clock.advance(32_000);

      expect(failures).toMatchObject([{ trigger: 'file' }]);
      expect(failures[0]?.['problem']).toContain('/keys/two');
      expect(lines('configuration reloaded')).toMatchObject([{ trigger: 'file' }]);
    });
  });

  it('is in force later also if it was asked for by SIGHUP', async () => {
    const files = { '/config.yaml': oneOnly, '/keys/one': 'NRAK-ONE' };
    await serving(files, {}, async ({ platform, lines }) => {
      Object.assign(files, { '/config.yaml': oneAndTwo });
      platform.hangup();
      await platform.clock.advance(1000);
      const failures = lines('reload failed');
      Object.assign(files, { '/keys/two': 'NRAK-TWO' });
      await platform.clock.advance(60_000);

      expect(failures).toMatchObject([{ trigger: 'signal' }]);
      expect(lines('reload failed')).toHaveLength(1);
      expect(lines('configuration reloaded')).toMatchObject([{ trigger: 'file' }]);
    });
  });

  it('waits for the next signal where files are not looked at', async () => {
    const files = { '/config.yaml': oneOnly, '/keys/one': 'NRAK-ONE' };
    await serving(files, { interval: '0' }, async ({ platform, lines }) => {
      Object.assign(files, { '/config.yaml': oneAndTwo });
      platform.hangup();
      await platform.clock.advance(1000);
      Object.assign(files, { '/keys/two': 'NRAK-TWO' });
      await platform.clock.advance(3_600_000);
      const before = lines('configuration reloaded').length;
      platform.hangup();
      await platform.clock.advance(1000);

      expect(before).toBe(0);
      expect(lines('configuration reloaded')).toMatchObject([{ trigger: 'signal' }]);
    });
  });
});

describe('a file that changes while the daemon starts', () => {
  it.each([
    { what: 'the configuration', path: '/config.yaml', text: `${oneOnly}  - { id: 7 }\n` },
    { what: 'a CA bundle', path: '/ca.pem', text: rootCertificates[1] ?? '' },
  ])('is in force within the auto-reload interval: $what', async ({ path, text }) => {
    const files: Record<string, string> = {
      '/config.yaml': oneOnly.replace('/keys/one', '/keys/one, ca_file: /ca.pem'),
      '/keys/one': 'NRAK-ONE',
      '/ca.pem': rootCertificates[0] ?? '',
    };
    // By then the files have been read.
    const whileStarting = (): void => {
      files[path] = text;
    };
    await serving(files, { whileStarting }, async ({ platform, lines }) => {
      await platform.clock.advance(32_000);
      const soon = lines('configuration reloaded').length;
      await platform.clock.advance(600_000);

      expect(soon).toBe(1);
      expect(lines('configuration reloaded')).toHaveLength(1);
    });
  });
});

describe('a CA bundle that is replaced under the same path', () => {
  it('is read again within the auto-reload interval', async () => {
    const files = {
      '/config.yaml': oneOnly.replace('/keys/one', '/keys/one, ca_file: /ca.pem'),
      '/keys/one': 'NRAK-ONE',
      '/ca.pem': rootCertificates[0] ?? '',
    };
    await serving(files, {}, async ({ platform, lines }) => {
      await platform.clock.advance(600_000);
      const before = lines('configuration reloaded').length;
      Object.assign(files, { '/ca.pem': rootCertificates[1] });
      await platform.clock.advance(600_000);

      expect(before).toBe(0);
      expect(lines('configuration reloaded')).toMatchObject([{ trigger: 'file' }]);
    });
  });
});
