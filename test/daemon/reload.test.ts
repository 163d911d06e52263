import { describe, expect, it } from 'vitest';
import { Reloader, type ReloadTrigger } from '../../src/daemon/reload.ts';
import type { Config } from '../../src/model/config.ts';
import { selectorText } from '../../src/model/selector.ts';
import { settle } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { slow } from '../support/slow.ts';

const good = 'apps: [{ id: 1 }]\n';

interface Bench {
  readonly reloader: Reloader;
  readonly files: Record<string, string>;
  readonly tried: Config[];
  readonly applied: Config[];
  readonly results: boolean[];
  /** The included files that were broken from each configuration on. */
  readonly broken: (readonly string[])[];
  readonly logger: FakeLogger;
  readonly platform: FakePlatform;
  /** While false, putting a configuration into force does not end. */
  readonly release: () => void;
}

interface BenchOptions {
  readonly fails?: Error;
  readonly isSlow?: boolean;
  readonly waits?: boolean;
  /** What the heap may grow to. */
  readonly heapBytes?: number;
}

function aBench(options: BenchOptions = {}): Bench {
  const files: Record<string, string> = { '/config.yaml': good };
  const { heapBytes = 1e9 } = options;
  const platform: FakePlatform = { ...createFakePlatform({ files }), heapBytes };
  const logger = createFakeLogger();
  const tried: Config[] = [];
  const applied: Config[] = [];
  const results: boolean[] = [];
  const broken: (readonly string[])[] = [];
  const waiting: (() => void)[] = [];
  const reloader = new Reloader(
    { configFile: '/config.yaml', configWait: options.waits ?? false, autoReloadIntervalMs: 0 },
    {
      platform,
      logger,
      apply: async (config) => {
        tried.push(config);
        if (options.fails !== undefined) throw options.fails;
        applied.push(config);
        if (options.isSlow === true) {
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
          });
        }
      },
      metrics: {
        configReloaded: (succeeded, _atMs, names) => {
          results.push(succeeded);
          if (names !== undefined) broken.push(names);
        },
      },
    },
  );
  return {
    reloader,
    files,
    tried,
    applied,
    results,
    broken,
    logger,
    platform,
    release: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

function isInForce({ reloader }: Bench): boolean {
  return reloader.status().inForceSinceMs !== undefined;
}

describe('Reloader', () => {
  it('puts a good configuration into force and says so', async () => {
    const bench = aBench();
    await bench.reloader.reload('start');

    await bench.reloader.reload('signal');

    expect(bench.applied).toHaveLength(2);
    expect(bench.results).toEqual([true, true]);
    expect(bench.logger.lines.at(-1)).toMatchObject({
      message: 'configuration reloaded',
      fields: { trigger: 'signal' },
    });
  });

  it.each([
    { what: 'a typo', text: 'apps: [{ idd: 1 }]\n', says: 'config.yaml:1:10' },
    { what: 'half of a file', text: 'apps: [{ id: ', says: 'config.yaml:1:' },
    { what: 'an empty file', text: '', says: 'config.yaml' },
  ])('changes nothing for $what, and says what is wrong', async ({ text, says }) => {
    const bench = aBench();
    await bench.reloader.reload('start');
    bench.files['/config.yaml'] = text;

    await expect(bench.reloader.reload('http')).rejects.toThrow(says);

    expect(bench.applied).toHaveLength(1);
    expect(bench.results).toEqual([true, false]);
    expect(bench.logger.lines.at(-1)).toMatchObject({ level: 'error', message: 'reload failed' });
  });

  it.each([
    { at: '2027-01-31T23:59:59.999Z', ends: undefined },
    { at: '2027-02-01T00:00:00Z', ends: 'will end' },
    { at: '2027-07-31T23:59:59.999Z', ends: 'will end' },
    { at: '2027-08-01T00:00:00Z', ends: 'has ended' },
  ])(
    'warns with each configuration of accounts in use with REST, from half a year before its end: $at',
    async ({ at, ends }) => {
      const bench = aBench();
      bench.platform.clock.jumpWall(Date.parse(at) - bench.platform.clock.wallMs());
      const names = ['rest', 'nerdgraph', 'unused'];
      const accounts = names.map(
        (name) =>
          `{ name: ${name}, api_key_env: K, account_id: 1, source: ${name === 'nerdgraph' ? name : 'rest'} }`,
      );
      bench.files['/config.yaml'] =
        `accounts: [${accounts.join(', ')}]\n` +
        'apps: [{ id: 1, account: rest }, { match: x, account: nerdgraph }]\n';

      await bench.reloader.reload('start');
      await bench.reloader.reload('http');

      const told = bench.logger.lines
        .filter(({ message }) => message.includes('REST API v2'))
        .map(({ level, message, fields }) => ({ level, message, account: fields['account'] }));
      const message = `New Relic ${ends} the REST API v2, which the account is polled with`;
      const line = { level: 'warn', message, account: 'rest' };
      expect(told).toEqual(ends === undefined ? [] : [line, line]);
    },
  );

  it('says what is wrong with a file once, however often it is tried, and again when that changes', async () => {
    const bench = aBench();
    await bench.reloader.reload('start');
    const problems = (): readonly unknown[] =>
      bench.logger.lines
        .filter(({ message }) => message === 'reload failed')
        .map(({ fields }) => /:1:\d+/u.exec(String(fields['problem']))?.[0]);
    for (const text of [
      'apps: [{ idd: 1 }]',
      'apps: [{ id: 1, idd: 1 }]',
      good,
      'apps: [{ id: 1, idd: 1 }]',
    ]) {
      bench.files['/config.yaml'] = text;
      for (let attempt = 0; attempt < 3; attempt += 1) {
        await bench.reloader.reload('file').catch(() => undefined);
      }
    }

    expect(problems()).toEqual([':1:10', ':1:17', ':1:17']);
  });

  it.each([{ trigger: 'http' as const }, { trigger: 'signal' as const }])(
    'logs the problem each time for a reload by $trigger',
    async ({ trigger }) => {
      const bench = aBench();
      await bench.reloader.reload('start');
      bench.files['/config.yaml'] = 'apps: [{ idd: 1 }]';

      for (const _ of [1, 2, 3]) await bench.reloader.reload(trigger).catch(() => undefined);

      expect(bench.logger.lines).toHaveLength(3);
    },
  );

  it('knows the content of the files in force, and nothing after a failure', async () => {
    const bench = aBench();
    const atFirst = bench.reloader.files;
    await bench.reloader.reload('start');
    const started = bench.reloader.files;
    bench.files['/config.yaml'] = 'nonsense';
    await expect(bench.reloader.reload('file')).rejects.toThrow('config.yaml');
    const afterFailure = bench.reloader.files;
    bench.files['/config.yaml'] = good;
    await bench.reloader.reload('file');

    expect(atFirst).toBeUndefined();
    expect(afterFailure).toBeUndefined();
    expect(bench.reloader.files?.digest).toBe(started?.digest);
  });

  it.each([
    { what: 'of its own', file: '/config.yaml', changes: true },
    { what: 'that an account in use names', file: '/proxy', changes: true },
    { what: 'that an account without entries names', file: '/other', changes: false },
    { what: 'of keys, which are read again without a reload', file: '/key', changes: false },
    { what: 'that a pattern includes', file: '/teams/b.yaml', changes: true },
    { what: 'of another name beside it', file: '/teams/b.txt', changes: false },
    { what: 'in another directory', file: '/teams/more/b.yaml', changes: false },
  ])('looks for changes of a file $what: it comes, changes and goes', async ({ file, changes }) => {
    const bench = aBench();
    bench.files['/proxy'] = 'http://proxy:1';
    bench.files['/teams/a.yaml'] = 'apps: [{ id: 1, account: a }]\n';
    const unused = '{ name: b, api_key_env: K, proxy_url_file: /other }';
    bench.files['/config.yaml'] =
      `accounts: [{ name: a, api_key_file: /key, proxy_url_file: /proxy }, ${unused}]\n` +
      'include: [teams/*.yaml]\n';
    await bench.reloader.reload('start');
    const files = bench.reloader.files;
    const [before] = [bench.files[file]];
    const seen: boolean[] = [];

    for (const text of ['apps: [] # other', 'apps: [] # changed', undefined]) {
      const digest = await files?.look();
      if (text === undefined) delete bench.files[file];
      else bench.files[file] = text;
      seen.push((await files?.look()) !== digest);
    }

    expect(seen).toEqual([changes, changes, changes]);
    if (before !== undefined) bench.files[file] = before;
    expect(await files?.look()).toBe(files?.digest);
  });

  it('8.1 takes what is whole beside a broken included file, says what is wrong with that, and hears of it when it is mended', async () => {
    const bench = aBench();
    bench.files['/config.yaml'] = 'include: [teams/*.yaml]\n';
    bench.files['/teams/a.yaml'] = 'apps: [{ id: 1 }]\n';
    bench.files['/teams/b.yaml'] = 'apps: [{ id: 2 }]\n';
    const reloads = [await bench.reloader.reload('start')];

    bench.files['/teams/a.yaml'] = 'apps: [{ idd: 1 }]\n';
    bench.files['/teams/b.yaml'] = 'apps: [{ id: 3 }]\n';
    reloads.push(await bench.reloader.reload('http'));
    const status = bench.reloader.status();
    const files = bench.reloader.files;
    expect(await files?.look()).toBe(files?.digest);
    bench.files['/teams/a.yaml'] = 'apps: [{ id: 4 }]\n';
    expect(await files?.look()).not.toBe(files?.digest);
    reloads.push(await bench.reloader.reload('file'));

    const ids = bench.applied.map(({ apps }) => apps.map(({ selector }) => selectorText(selector)));
    expect(ids).toEqual([
      ['id=1', 'id=2'],
      ['id=1', 'id=3'],
      ['id=4', 'id=3'],
    ]);
    expect(reloads).toEqual([undefined, expect.stringContaining('/teams/a.yaml:1:10'), undefined]);
    expect(status).toMatchObject({ problem: undefined, brokenFiles: [{ name: '/teams/a.yaml' }] });
    expect(bench.results).toEqual([true, false, true]);
    expect(bench.broken).toEqual([[], ['/teams/a.yaml'], []]);
    expect(bench.logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { message: 'configuration taken in part', fields: { count: 1, examples: ['/teams/a.yaml'] } },
    ]);
    expect(bench.reloader.status().brokenFiles).toEqual([]);
  });

  it('8.1 starts with a broken included file, without its entries', async () => {
    const bench = aBench();
    bench.files['/config.yaml'] = 'include: [teams/*.yaml]\napps: [{ id: 1 }]\n';
    bench.files['/teams/a.yaml'] = 'apps: [{ match: ., exclude: tru }]\n';

    const problem = await bench.reloader.reload('start');

    expect(problem).toMatch(/\/teams\/a\.yaml:1:(?:.|\n)*entries of later files may have/u);
    expect(bench.applied[0]?.apps).toHaveLength(1);
  });

  it('does not log a failed start that ends the process, but rejects with its exit code', async () => {
    const bench = aBench();
    bench.files['/config.yaml'] = 'nonsense';

    await expect(bench.reloader.reload('start')).rejects.toMatchObject({ exitCode: 2 });

    expect(bench.logger.lines).toEqual([]);
    expect(bench.reloader.status()).toMatchObject({ inForceSinceMs: undefined });
  });

  it('waits for a first configuration: logs each problem once, and then that it was found', async () => {
    const bench = aBench({ waits: true });
    const said: unknown[] = [];
    const texts = [undefined, 'apps: [{ idd: 1 }]', 'apps: [{ id: 1, idd: 1 }]', good];
    for (const [index, text] of texts.entries()) {
      if (text === undefined) delete bench.files['/config.yaml'];
      else bench.files['/config.yaml'] = text;
      for (let attempt = 0; attempt < 3 && !isInForce(bench); attempt += 1) {
        const trigger = index === 0 && attempt === 0 ? 'start' : 'file';
        await bench.reloader.reload(trigger).catch(() => undefined);
      }
      const { problem } = bench.reloader.status();
      said.push([isInForce(bench), /does not exist|:1:\d+/u.exec(problem ?? '')?.[0]]);
    }

    expect(said).toEqual([
      [false, 'does not exist'],
      [false, ':1:10'],
      [false, ':1:17'],
      [true, undefined],
    ]);
    expect(bench.logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'no usable configuration'],
      ['error', 'no usable configuration'],
      ['error', 'no usable configuration'],
      ['info', 'configuration found'],
    ]);
    expect(bench.results.at(-1)).toBe(true);
  });

  const everyTrigger: readonly ReloadTrigger[] = ['start', 'file', 'file', 'http', 'signal'];

  it('parses the same broken bytes once', async () => {
    const bench = aBench({ waits: true });
    bench.files['/config.yaml'] = 'apps: [{ idd: 1 }]\n';
    const errors = new Set<unknown>();
    for (const trigger of everyTrigger) {
      await bench.reloader.reload(trigger).catch((error: unknown) => errors.add(error));
    }

    expect(errors.size).toBe(1);
    expect(bench.results).toEqual([false, false, false, false, false]);
  });

  it('survives a fault of the program in parsing, and tries the next file', async () => {
    const bench = aBench();
    await bench.reloader.reload('start');
    const broken = (): never => {
      throw new TypeError('broken');
    };
    Object.defineProperty(bench.platform, 'ownHostNames', { get: broken });
    bench.files['/config.yaml'] = 'apps: [{ id: 1, hosts: self }]\n';

    await expect(bench.reloader.reload('file')).rejects.toMatchObject({
      name: 'CommandError',
      exitCode: 1,
      message: '/config.yaml: the file could not be parsed: broken',
    });
    Object.defineProperty(bench.platform, 'ownHostNames', { get: () => ['self'] });
    bench.files['/config.yaml'] = 'apps: [{ id: 2, hosts: self }]\n';
    await bench.reloader.reload('file');

    expect(bench.applied).toHaveLength(2);
  });

  const entries = (count: number): string =>
    `apps:\n${Array.from({ length: count }, (_, at) => `  - id: ${at + 1}\n`).join('')}`;
  const manyMaps = `apps: [${'{},'.repeat(100_000)}]`;

  it.each([
    { what: 'a small heap', heapBytes: 32 * 1024 ** 2, text: entries(7000), limitMb: 19 },
    { what: 'a large heap', heapBytes: 4 * 1024 ** 3, text: manyMaps, limitMb: 256 },
  ])('refuses a file that could fill $what, without parsing it', async (row) => {
    const { heapBytes, text, limitMb } = row;
    const bench = aBench({ heapBytes });
    await bench.reloader.reload('start');
    bench.files['/config.yaml'] = text;

    await expect(bench.reloader.reload('file')).rejects.toMatchObject({
      exitCode: 1,
      message: `/config.yaml: the file could not be parsed: it takes more than ${limitMb} MB of memory: is it the right file?`,
    });

    expect(bench.applied).toHaveLength(1);
  });

  it('takes ten thousand entries in the heap of the chart', slow, async () => {
    const bench = aBench({ heapBytes: 64 * 1024 ** 2 });
    await bench.reloader.reload('start');
    bench.files['/config.yaml'] = entries(10_000);

    await bench.reloader.reload('file');

    expect(bench.applied).toHaveLength(2);
  });

  it('runs one reload at a time, and one more for everybody who asks in the meantime', async () => {
    const bench = aBench({ isSlow: true });

    const all = Array.from({ length: 50 }, () => bench.reloader.reload('signal'));
    await settle();
    const during = bench.applied.length;
    const late = bench.reloader.reload('http');
    const later = bench.reloader.reload('http');
    bench.release();
    await Promise.all(all);
    await settle();
    bench.release();
    await Promise.all([late, later]);

    expect(during).toBe(1);
    expect(bench.applied).toHaveLength(2);
  });
});
