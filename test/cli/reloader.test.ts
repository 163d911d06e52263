import { describe, expect, it } from 'vitest';
import { CommandError } from '../../src/cli/exit-code.ts';
import { createReloader, type Reloader } from '../../src/cli/reloader.ts';
import { digestOf } from '../../src/config/read-file.ts';
import type { Config } from '../../src/model/config.ts';
import { settle } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { createFakeMachine } from '../support/fake-machine.ts';

const good = 'apps: [{ id: 1 }]\n';
const initialFiles = new Map([['/config.yaml', 'digest']]);

interface Bench {
  readonly reloader: Reloader;
  readonly files: Record<string, string>;
  readonly applied: Config[];
  readonly results: boolean[];
  readonly logger: FakeLogger;
  /** While false, putting a configuration into force does not end. */
  readonly release: () => void;
}

function aBench(options: { readonly fails?: Error; readonly isSlow?: boolean } = {}): Bench {
  const files: Record<string, string> = { '/config.yaml': good };
  const machine = createFakeMachine({ files });
  const logger = createFakeLogger();
  const applied: Config[] = [];
  const results: boolean[] = [];
  const waiting: (() => void)[] = [];
  const reloader = createReloader(
    { path: '/config.yaml', initialFiles },
    {
      machine,
      logger,
      apply: async (config) => {
        if (options.fails !== undefined) throw options.fails;
        applied.push(config);
        if (options.isSlow === true) {
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
          });
        }
      },
      reloaded: (succeeded) => results.push(succeeded),
    },
  );
  return {
    reloader,
    files,
    applied,
    results,
    logger,
    release: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

describe('createReloader', () => {
  it('puts a good configuration into force and says so', async () => {
    const bench = aBench();

    await bench.reloader.reload('signal');

    expect(bench.applied).toHaveLength(1);
    expect(bench.results).toEqual([true]);
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
    bench.files['/config.yaml'] = text;

    await expect(bench.reloader.reload('http')).rejects.toThrow(says);

    expect(bench.applied).toEqual([]);
    expect(bench.results).toEqual([false]);
    expect(bench.logger.lines.at(-1)).toMatchObject({ level: 'error', message: 'reload failed' });
  });

  it('reports what the new configuration needs and is not there, such as a key', async () => {
    const bench = aBench({ fails: new CommandError(2, 'account one: the key file is empty') });

    await expect(bench.reloader.reload('http')).rejects.toThrow('the key file is empty');

    expect(bench.results).toEqual([false]);
  });

  it('heals with the next good file', async () => {
    const bench = aBench();
    bench.files['/config.yaml'] = 'nonsense';
    await expect(bench.reloader.reload('file')).rejects.toThrow('config.yaml');
    bench.files['/config.yaml'] = good;

    await bench.reloader.reload('file');

    expect(bench.results).toEqual([false, true]);
  });

  it('says what is wrong with a file once, however often it is tried, and again when that changes', async () => {
    const bench = aBench();
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
    'tells whoever asks by $trigger each time',
    async ({ trigger }) => {
      const bench = aBench();
      bench.files['/config.yaml'] = 'apps: [{ idd: 1 }]';

      for (const _ of [1, 2, 3]) await bench.reloader.reload(trigger).catch(() => undefined);

      expect(bench.logger.lines).toHaveLength(3);
    },
  );

  it('knows what the files held that are in force, and nothing after a failure', async () => {
    const bench = aBench();
    const atFirst = bench.reloader.filesInForce();
    bench.files['/config.yaml'] = 'nonsense';
    await expect(bench.reloader.reload('file')).rejects.toThrow('config.yaml');
    const afterFailure = bench.reloader.filesInForce();
    bench.files['/config.yaml'] = good;
    await bench.reloader.reload('file');

    expect(atFirst).toBe(initialFiles);
    expect(afterFailure).toBeUndefined();
    expect(bench.reloader.filesInForce()).toEqual(
      new Map([['/config.yaml', digestOf(Buffer.from(good))]]),
    );
  });

  it('makes one reload at a time, and one for all that ask meanwhile', async () => {
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
