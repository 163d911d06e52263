import { describe, expect, it } from 'vitest';
import { runOneShot } from '../../src/cli/one-shot.ts';
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
  it.each([
    { exitCode: 0, keepsParts: false },
    { exitCode: 1, keepsParts: true },
  ] as const)('prints its output in one piece and ends with $exitCode', async (row) => {
    const { exitCode, keepsParts } = row;
    const pieces: string[] = [];
    const platform = {
      ...createFakePlatform(),
      print: async (text: string) => {
        pieces.push(text);
      },
    };

    const output = 'one\ntwo\n';
    const code = await runOneShot(async () => ({ exitCode, output }), keepsParts, platform);

    expect(code).toBe(exitCode);
    expect(pieces).toEqual([output]);
    expect(platform.clock.pendingTimers()).toBe(0);
  });

  it('fails when its output cannot be written', async () => {
    const platform = {
      ...createFakePlatform(),
      print: async (): Promise<void> => {
        throw new Error('ENOSPC: no space left on device');
      },
    };

    expect(await run(['config-schema'], platform)).toBe(1);
    expect(platform.stderr.text()).toBe(
      'standard output cannot be written: ENOSPC: no space left on device\n',
    );
  });

  it('prints nothing and ends at once when it is interrupted, whatever it waits for', async () => {
    const platform = createFakePlatform();

    const ending = runOneShot(never, false, platform);
    platform.stop();

    await expect(ending).rejects.toMatchObject({
      exitCode: 143,
      message: expect.stringMatching(/^interrupted/u),
    });
    expect(platform.stdout.text()).toBe('');
  });

  it.each([
    { keepsParts: false, printed: '' },
    { keepsParts: true, printed: 'half\n' },
  ])('prints "$printed" when it ends because it was interrupted', async (row) => {
    const platform = createFakePlatform();
    const command = async (): Promise<{ exitCode: 0; output: string }> => {
      platform.stop();
      return { exitCode: 0, output: 'half\n' };
    };

    const ending = runOneShot(command, row.keepsParts, platform);

    await expect(ending).rejects.toMatchObject({ exitCode: 143 });
    expect(platform.stdout.text()).toBe(row.printed);
  });

  it('is interrupted if it fails because of the stop, and fails as it is otherwise', async () => {
    const failing = async (): Promise<never> => {
      throw new Error('cut off');
    };
    const stopped = { ...createFakePlatform(), stopSignal: stoppedBy('SIGINT') };

    await expect(runOneShot(failing, true, stopped)).rejects.toMatchObject({ exitCode: 130 });
    await expect(runOneShot(failing, true, createFakePlatform())).rejects.toThrow('cut off');
  });
});

describe('the progress of a command', () => {
  it.each([
    { where: 'on a terminal', isTTY: true, seconds: [1, 11, 21] },
    { where: 'elsewhere', isTTY: false, seconds: [10, 20] },
  ])('is a line every ten seconds $where, without escape sequences', async ({ isTTY, seconds }) => {
    const platform = createFakePlatform();
    const { clock, stderr } = platform;
    const running = { ...platform, stderr: { ...stderr, isTTY } };
    // The machine has run for a while.
    await clock.advance(5000);

    const ending = runOneShot(
      async ({ progress }) => {
        progress.show(() => `account \u001B[2J\nx`);
        await new Promise<void>((resolve) => {
          clock.after(29_999, resolve);
        });
        return { exitCode: 0, output: '' };
      },
      false,
      running,
    );
    await clock.advance(60_000);

    expect(await ending).toBe(0);
    expect(stderr.text()).toBe(
      seconds.map((one) => `${one} s: account \\u{1b}[2J\\u{a}x\n`).join(''),
    );
    expect(clock.pendingTimers()).toBe(0);
  });

  it('is silent for a command that says nothing', async () => {
    const platform = createFakePlatform();

    void runOneShot(never, false, platform);
    await platform.clock.advance(60_000);

    expect(platform.stderr.text()).toBe('');
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
    { args: [], expected: true },
    { args: ['serve'], expected: true },
    { args: ['--log.level=debug', 'demo'], expected: true },
    { args: ['once'], expected: false },
    { args: ['serve', '--help'], expected: false },
    { args: ['srve'], expected: false },
  ])('is $expected for $args', ({ args, expected }) => {
    expect(runsUntilStopped(args, {})).toBe(expected);
  });
});
