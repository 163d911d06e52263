import { afterEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/config/read-file.ts';
import { type WatchedFiles, watchConfig, watchedFilesOf } from '../../src/daemon/config-watcher.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';

const config = '/config.yaml';
const ca = '/ca.pem';

interface Bench {
  readonly platform: FakePlatform;
  readonly files: Record<string, string>;
  /** The content of the configuration file at each reload. */
  readonly reloads: (string | undefined)[];
  readonly logger: FakeLogger;
  /** From now on reloads fail, or succeed. */
  fails(fails: boolean): void;
  /** As a reload does that was asked for in another way, and failed. */
  failedElsewhere(): void;
}

const running: { platform: FakePlatform; done: Promise<void> }[] = [];

afterEach(async () => {
  for (const { platform, done } of running.splice(0)) {
    platform.stop();
    await done;
    expect(platform.clock.pendingTimers()).toBe(0);
  }
});

function digests(files: Record<string, string>): WatchedFiles {
  return new Map(
    Object.entries(files).map(([path, text]) => [path, digestOf(Buffer.from(text))] as const),
  );
}

function aBench(): Bench {
  const files: Record<string, string> = { [config]: 'one', [ca]: 'old' };
  const platform = createFakePlatform({ files });
  const logger = createFakeLogger();
  const reloads: (string | undefined)[] = [];
  let inForce: WatchedFiles | undefined = digests(files);
  let fails = false;
  const done = watchConfig(
    { intervalMs: 30_000 },
    {
      platform,
      logger,
      inForce: () => inForce,
      reload: async () => {
        reloads.push(files[config]);
        inForce = fails ? undefined : digests(files);
      },
    },
    platform.stopSignal,
  );
  running.push({ platform, done });
  return {
    platform,
    files,
    reloads,
    logger,
    fails: (value) => {
      fails = value;
    },
    failedElsewhere: () => {
      inForce = undefined;
    },
  };
}

describe('watchConfig', () => {
  it('puts each new content into force once', async () => {
    const { platform, files, reloads } = aBench();

    files[config] = 'two';
    await platform.clock.advance(300_000);
    files[config] = 'three';
    await platform.clock.advance(300_000);

    expect(reloads).toEqual(['two', 'three']);
  });

  it('notices a change that was made before the first look', async () => {
    const { platform, files, reloads } = aBench();

    files[config] = 'two';
    await platform.clock.advance(31_000);

    expect(reloads).toEqual(['two']);
  });

  it('notices that a CA bundle changed under the same path', async () => {
    const { platform, files, reloads } = aBench();

    files[ca] = 'new';
    await platform.clock.advance(300_000);

    expect(reloads).toEqual(['one']);
  });

  it('tries again at every interval until a reload succeeds, and then no more', async () => {
    const bench = aBench();

    bench.fails(true);
    bench.files[config] = 'two';
    await bench.platform.clock.advance(124_500);
    const failed = [...bench.reloads];
    bench.fails(false);
    await bench.platform.clock.advance(600_000);

    expect(failed).toEqual(['two', 'two', 'two', 'two']);
    expect(bench.reloads).toHaveLength(5);
  });

  it('tries again after a reload that failed elsewhere, although no file has changed', async () => {
    const bench = aBench();

    bench.failedElsewhere();
    await bench.platform.clock.advance(600_000);

    expect(bench.reloads).toEqual(['one']);
  });

  it('waits for a writer that is not done when the change is seen', async () => {
    const { platform, files, reloads } = aBench();
    await platform.clock.advance(1000);

    files[config] = 'tw';
    await platform.clock.advance(29_500);
    files[config] = 'two';
    await platform.clock.advance(300_000);

    expect(reloads).toEqual(['two']);
  });

  it.each([{ path: config }, { path: ca }])(
    'survives that $path is deleted and created again, and warns once',
    async ({ path }) => {
      const { platform, files, reloads, logger } = aBench();
      await platform.clock.advance(1000);

      delete files[path];
      await platform.clock.advance(120_000);
      const whileGone = reloads.length;
      files[path] = 'two';
      await platform.clock.advance(60_000);

      expect(whileGone).toBe(0);
      expect(reloads).toHaveLength(1);
      expect(logger.lines.map(({ message, fields }) => [message, fields['file']])).toEqual([
        ['configuration file not readable', path],
      ]);
    },
  );
});

const file = { path: '/config.yaml', digest: 'of what was parsed' };

describe('watchedFilesOf', () => {
  it('are the configuration as it was parsed, and the CA bundles of accounts in use', async () => {
    const parsed = {
      accounts: [
        anAccount({ name: 'one', caFile: '/ca.pem', apiKey: { kind: 'file', path: '/key' } }),
        anAccount({ name: 'two', caFile: '/ca.pem' }),
        anAccount({ name: 'three', caFile: '/lost.pem' }),
        anAccount({ name: 'unused', caFile: '/unused.pem' }),
        anAccount({ name: 'without' }),
      ],
      apps: ['one', 'two', 'three', 'without'].map((account) => anEntry({ account })),
    };
    const files = { '/config.yaml': 'changed since', '/ca.pem': 'PEM', '/key': 'NRAK-TEST' };

    const watched = await watchedFilesOf(file, parsed, createFakePlatform({ files }));

    expect([...watched]).toEqual([
      ['/config.yaml', 'of what was parsed'],
      ['/ca.pem', digestOf(Buffer.from('PEM'))],
      ['/lost.pem', ''],
    ]);
  });
});
