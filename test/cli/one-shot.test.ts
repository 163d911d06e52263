import { describe, expect, it } from 'vitest';
import { runKeepingParts, runOneShot } from '../../src/cli/one-shot.ts';
import { aligned } from '../../src/cli/plain-text.ts';
import { run, runsUntilStopped } from '../../src/cli/run.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const never = async (): Promise<never> => new Promise(() => undefined);

function stoppedBy(cause: string): AbortSignal {
  return AbortSignal.abort(new Error(`stopped by ${cause}`, { cause }));
}

const signals = [
  { signal: 'SIGTERM', code: 143 },
  { signal: 'SIGINT', code: 130 },
] as const;

describe('a command that does one thing', () => {
  it.each([{ exitCode: 0 as const }, { exitCode: 1 as const }])(
    'prints its output in one piece and ends with $exitCode',
    async ({ exitCode }) => {
      const pieces: string[] = [];
      const platform = {
        ...createFakePlatform(),
        print: async (text: string) => {
          pieces.push(text);
        },
      };

      const code = await runOneShot(async () => ({ exitCode, output: 'one\ntwo\n' }), platform);

      expect(code).toBe(exitCode);
      expect(pieces).toEqual(['one\ntwo\n']);
    },
  );

  it('fails when its output cannot be written', async () => {
    const platform = {
      ...createFakePlatform(),
      print: async (): Promise<void> => {
        throw new Error('ENOSPC: no space left on device');
      },
    };

    const code = await run(['config-schema'], platform);

    expect(code).toBe(1);
    expect(platform.stderr.text()).toBe(
      'standard output cannot be written: ENOSPC: no space left on device\n',
    );
  });

  it('prints nothing and ends at once when it is interrupted, whatever it waits for', async () => {
    const platform = createFakePlatform();

    const ending = runOneShot(never, platform);
    platform.stop();

    await expect(ending).rejects.toMatchObject({
      exitCode: 143,
      message: expect.stringMatching(/^interrupted/u),
    });
    expect(platform.stdout.text()).toBe('');
  });

  it('prints nothing when it ends because it was interrupted', async () => {
    const platform = createFakePlatform();
    const command = async (): Promise<{ exitCode: 0; output: string }> => {
      platform.stop();
      return { exitCode: 0, output: 'half' };
    };

    await expect(runOneShot(command, platform)).rejects.toMatchObject({ exitCode: 143 });
    expect(platform.stdout.text()).toBe('');
  });
});

describe('a command that keeps what it has', () => {
  it.each(signals)('prints it when it is stopped by $signal, and ends with $code', async (one) => {
    const platform = { ...createFakePlatform(), stopSignal: stoppedBy(one.signal) };

    const ending = runKeepingParts(async () => ({ exitCode: 0, output: 'half\n' }), platform);

    await expect(ending).rejects.toMatchObject({ exitCode: one.code });
    expect(platform.stdout.text()).toBe('half\n');
  });

  it.each([{ exitCode: 0 as const }, { exitCode: 1 as const }])(
    'ends with $exitCode if it is not stopped',
    async ({ exitCode }) => {
      const platform = createFakePlatform();

      const code = await runKeepingParts(async () => ({ exitCode, output: 'all\n' }), platform);

      expect(code).toBe(exitCode);
      expect(platform.stdout.text()).toBe('all\n');
    },
  );

  it('is interrupted if it fails because of the stop, and fails as it is otherwise', async () => {
    const failing = async (): Promise<never> => {
      throw new Error('cut off');
    };
    const stopped = { ...createFakePlatform(), stopSignal: stoppedBy('SIGINT') };

    await expect(runKeepingParts(failing, stopped)).rejects.toMatchObject({ exitCode: 130 });
    await expect(runKeepingParts(failing, createFakePlatform())).rejects.toThrow('cut off');
  });
});

describe.each([
  'once',
  'plan',
  'plan --online',
  'check-config',
  'check-config --online',
  'discover',
  'metrics 1',
  'healthcheck',
  'config-schema',
])('%s', (command) => {
  it.each(signals)('does nothing and ends with $code after $signal', async ({ signal, code }) => {
    const files = { 'config.yaml': 'apps: [{ id: 1 }]\n' };
    const platform = {
      ...createFakePlatform({ files, env: { NEW_RELIC_API_KEY: 'NRAK-TEST' } }),
      stopSignal: stoppedBy(signal),
    };

    const exitCode = await run(command.split(' '), platform);

    expect(exitCode).toBe(code);
    expect(platform.stdout.text()).toBe('');
    expect(platform.stderr.text()).toBe('interrupted before it was done\n');
  });
});

describe('runsUntilStopped', () => {
  it.each([
    { args: '', expected: true },
    { args: 'serve', expected: true },
    { args: '--log.level=debug demo', expected: true },
    { args: 'once', expected: false },
    { args: 'serve --help', expected: false },
    { args: 'srve', expected: false },
  ])('is $expected for "$args"', ({ args, expected }) => {
    expect(
      runsUntilStopped(
        args.split(' ').filter((word) => word !== ''),
        {},
      ),
    ).toBe(expected);
  });
});

describe('aligned', () => {
  it('makes columns as wide as their widest cell, without blanks at the ends of lines', () => {
    const rows = [
      ['a', '1', ''],
      ['long', '200', 'note'],
      ['', '', 'x'],
    ];

    expect(aligned(rows, ['left', 'right'])).toEqual([
      'a       1',
      'long  200  note',
      '           x',
    ]);
  });
});
