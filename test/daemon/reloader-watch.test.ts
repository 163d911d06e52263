import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { type Serving, silentTransport, withServing } from '../support/serving.ts';

const one = 'accounts:\n  - { name: one, region: us, api_key_file: /keys/one }\n';
const two = '  - { name: two, region: eu, api_key_file: /keys/two }\n';
const oneOnly = `${one}apps:\n  - { match: "." }\n`;
const oneAndTwo = `${one}${two}apps:\n  - { match: ".", account: one }\n  - { match: ".", account: two }\n`;

interface Bench extends Pick<Serving, 'lines'> {
  readonly platform: FakePlatform;
}

/** Runs `serve` with the files. */
async function serving(
  files: Record<string, string>,
  options: { readonly interval?: string; readonly whileStarting?: () => void },
  use: (bench: Bench) => Promise<void>,
): Promise<void> {
  const platform = createFakePlatform({
    files,
    openTransport: async () => {
      options.whileStarting?.();
      return silentTransport;
    },
  });
  const interval = `--config.auto-reload-interval=${options.interval ?? '30s'}`;
  await withServing([interval], platform, async ({ lines }) => use({ platform, lines }));
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

  it('is in force later even if SIGHUP asked for it', async () => {
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

  it('waits for the next signal if files are not watched', async () => {
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
