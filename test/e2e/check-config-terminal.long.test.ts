import { execFile } from 'node:child_process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { mainFile, withFiles } from '../support/daemon-process.ts';
import { python, runOnTerminal } from '../support/pseudo-terminal.ts';

const execute = promisify(execFile);

/** The lines on a terminal and in a pipe, after a check of a file with one wrong entry. */
async function shownWith(env: Readonly<Record<string, string>>): Promise<{
  readonly code: number;
  readonly screen: string;
  readonly piped: string;
}> {
  const applications = [{ id: 11, name: 'shop\u001B[2J', kind: 'both', hosts: 1 }] as const;
  const simulator = createSimulator({ fleet: { applications } }, { clock: createSystemClock() });
  const { baseUrl } = await simulator.start();
  const config = `accounts: [{ name: one, base_url: "${baseUrl}", api_key_env: KEY }]\napps:\n  - name: shop\n`;
  try {
    return await withFiles({ 'config.yaml': config }, async (folder) => {
      const args = [mainFile, 'check-config', '--online', `${folder}/config.yaml`];
      const flags = ['--web.listen-address=127.0.0.1:0'];
      const options = {
        env: { PATH: process.env['PATH'] ?? '', KEY: simulator.apiKeys[0] ?? '', ...env },
      };
      const { code, screen } = await runOnTerminal([process.execPath, ...args, ...flags], {
        stdout: 'terminal',
        columns: 80,
        env: options.env,
      });
      const pipe = execute(process.execPath, [...args, ...flags], options);
      const piped = await pipe.catch(({ stdout }: { stdout: string }) => ({ stdout }));
      return { code, screen, piped: piped.stdout };
    });
  } finally {
    await simulator.stop();
  }
}

describe.skipIf(python.skip)(`check-config --online, on a terminal${python.note}`, () => {
  it('marks findings with coloured symbols, and obeys no name of an application', async () => {
    const { code, screen } = await shownWith({ LANG: 'C.UTF-8', TERM: 'xterm' });

    expect(code).toBe(1);
    expect(screen).toContain('\u001B[32m✔\u001B[39m account one: key accepted');
    expect(screen).toContain('\u001B[31m✖\u001B[39m ');
    expect(stripVTControlCharacters(screen)).toContain('= help: did you mean "shop\\u{1b}[2J"?');
    expect(screen).not.toContain('\u001B[2J');
  });

  it.each([
    {
      env: { LC_ALL: 'C', TERM: 'xterm', NO_COLOR: '1' },
      mark: '2 ok      account one: key accepted',
    },
    { env: { LANG: 'C.UTF-8', TERM: 'dumb' }, mark: '2 ✔ account one: key accepted' },
  ])('is plain with $env', async ({ env, mark }) => {
    const { screen } = await shownWith(env);

    expect(screen).toContain(mark);
    expect(screen.replaceAll('\r\u001B[K', '')).not.toContain('\u001B[3');
  });

  it('is plain in a pipe', async () => {
    const { piped } = await shownWith({ LANG: 'C.UTF-8', TERM: 'xterm' });

    expect(piped).toContain('2 ok      account one: key accepted');
    expect(piped).not.toContain('\u001B');
  });
});
