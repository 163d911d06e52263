import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { mainFile, withFiles } from '../support/daemon-process.ts';
import { python, runOnTerminal, type Shown } from '../support/pseudo-terminal.ts';

async function withSlowVendor(
  use: (configFile: string, key: string) => Promise<void>,
): Promise<void> {
  const simulator = createSimulator(
    { fleet: { applications: 450, hosts: 450 }, latencyMs: 900 },
    { clock: createSystemClock() },
  );
  const { baseUrl } = await simulator.start();
  const config = `accounts: [{ name: one, base_url: "${baseUrl}", api_key_env: KEY }]\napps: [{ match: ., hosts: false }]\n`;
  try {
    await withFiles({ 'config.yaml': config }, async (folder) =>
      use(`${folder}/config.yaml`, simulator.apiKeys[0] ?? ''),
    );
  } finally {
    await simulator.stop();
  }
}

/** On a terminal of 60 columns, with the output in a pipe. */
async function shownBy(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Shown> {
  return runOnTerminal([process.execPath, mainFile, ...args], {
    stdout: 'pipe',
    columns: 60,
    env: { TERM: 'xterm', ...env },
  });
}

describe.skipIf(python.skip)(`a command that takes seconds, on a terminal${python.note}`, () => {
  it.each([
    { args: ['discover'], line: 'asking New Relic for the list of applications of account one' },
    { args: ['check-config', '--online'], line: 'asking New Relic for' },
    { args: ['plan', '--online'], line: 'asking New Relic for' },
  ])('shows one line that fits, and leaves nothing of it: $args', async ({ args, line }) => {
    await withSlowVendor(async (file, key) => {
      const { stdout, screen } = await shownBy([...args, file], { KEY: key });

      const drawn = screen.split('\r\u001B[K').map((part) => stripVTControlCharacters(part));
      expect(drawn.filter((part) => part.startsWith(line.slice(0, 59))).length).toBeGreaterThan(3);
      expect(drawn.every((part) => part.length <= 59 || part.includes('\n'))).toBe(true);
      expect(screen.trimEnd().endsWith('\r\u001B[K') || drawn.at(-1)?.endsWith('\n')).toBe(true);
      expect(stdout).not.toContain('asking');
      expect(stdout).not.toBe('');
    });
  });
});
