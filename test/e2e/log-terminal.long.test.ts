import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import {
  childrenOf,
  mainFile,
  startProgram,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';

/** Gives a program a terminal of its own. */
const script = toolOrSkip('script', process.env, 'apt-get install bsdutils');

const escape = '\u001B';
const demo = ['demo', '--web.listen-address=127.0.0.1:0', '--log.level=debug'];

interface InTerminal {
  /** What the terminal has been sent so far. */
  text(): string;
  /** Ends it with Ctrl-C, and resolves to all that the terminal was sent. */
  interrupt(): Promise<string>;
}

/** Starts the built program in a pseudo-terminal. */
function startInTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): InTerminal {
  const command = ['exec', process.execPath, mainFile, ...args].join(' ');
  const child = spawn(script.path, ['-qefc', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString();
  });
  const ended = once(child, 'close');
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return {
    text: () => text,
    interrupt: async () => {
      for (const pid of childrenOf(child.pid)) process.kill(pid, 'SIGINT');
      await ended;
      return text;
    },
  };
}

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
const coloured = new RegExp(
  String.raw`^${time} ${escape}\[(?:3[1-4])m(?:DEBUG|INFO |WARN |ERROR)${escape}\[0m ${escape}\[1m[\w ]+${escape}\[0m(?: .*)?$`,
);
const plain = new RegExp(String.raw`^${time} (?:DEBUG|INFO |WARN |ERROR) [\w ]+(?: .*)?$`);

/** The lines between the greeting and the last one, which have the log. */
function linesOf(text: string): readonly string[] {
  const lines = text.replaceAll('\r\n', '\n').trimEnd().split('\n');
  return lines.slice(lines.findIndex((line) => line.includes('Ctrl-C stops')) + 2);
}

describe.skipIf(script.skip)(`the log of the demo on a terminal${script.note}`, () => {
  it.each([
    { env: {}, logLine: coloured },
    { env: { NO_COLOR: '1' }, logLine: plain },
    { env: { TERM: 'dumb' }, logLine: plain },
  ])('is in whole lines: $env', async ({ env, logLine }) => {
    const terminal = startInTerminal(demo, env);
    await until(() => terminal.text().includes('listening') || undefined);
    const lines = linesOf(await terminal.interrupt());

    expect(lines.filter((line) => !logLine.test(line))).toEqual([]);
    expect(lines.at(-1)).toContain('stopping');
  });
});

describe('the log of the demo in a pipe', () => {
  it.each([
    { flag: 'auto', env: { FORCE_COLOR: '1' }, logLine: /^\{"level":"\w+","time":"[^"]+",.*\}$/ },
    { flag: 'logfmt', env: {}, logLine: /^level=\w+ time=\S+ msg=(?:\w+|"[^"]+")(?: \S+=.*)?$/ },
    { flag: 'pretty', env: {}, logLine: plain },
    { flag: 'PRETTY', env: { FORCE_COLOR: '1' }, logLine: coloured },
  ])('has a line for each entry: --log.format=$flag, $env', async ({ flag, env, logLine }) => {
    const program = startProgram([...demo, `--log.format=${flag}`], env);
    onTestFinished(async () => {
      await stopProgram(program);
    });
    await until(
      () => (program.stderr().match(/call to New Relic/g)?.length ?? 0) >= 5 || undefined,
    );
    const { stderr } = await stopProgram(program);
    const lines = stderr.trimEnd().split('\n');

    expect(lines.filter((line) => !logLine.test(line))).toEqual([]);
    expect(lines.join('\n')).not.toContain('NRAK-');
  });
});

describe.skipIf(script.skip)(`hostile names on a terminal${script.note}`, () => {
  it('are escaped and cut, whatever is in them', async () => {
    const name = `${escape}[2J${escape}]0;title\u0007\u202Egnp.exe\u009B31m\nERROR faked ${'x'.repeat(10_240)}`;
    const simulator = createSimulator(
      {
        fleet: { applications: [{ id: 1, name, hosts: 1 }] },
        intercept: ({ path }, response) => {
          if (!path.includes('/metrics/')) return 'pass';
          response.writeHead(404, { 'Content-Type': 'application/json' });
          response.end(JSON.stringify({ error: { title: name } }));
          return 'handled';
        },
      },
      { clock: createSystemClock() },
    );
    const { baseUrl } = await simulator.start();
    onTestFinished(async () => simulator.stop());
    const [key = ''] = simulator.apiKeys;
    const config = `accounts:\n  - { name: one, base_url: "${baseUrl}", api_key_env: KEY }\napps:\n  - match: "."\n`;
    await withFiles({ 'config.yaml': config }, async (folder) => {
      const file = `--config.file=${join(folder, 'config.yaml')}`;
      const args = ['serve', file, '--web.listen-address=127.0.0.1:0', '--log.level=debug'];
      const terminal = startInTerminal(args, { KEY: key, NO_COLOR: '1' });
      await until(() => (terminal.text().includes('application is gone') ? true : undefined));
      const text = (await terminal.interrupt()).replaceAll('\r\n', '\n');

      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
      expect(text).toContain(
        String.raw`\u001b[2J\u001b]0;title\u0007\u202egnp.exe\u009b31m\nERROR faked x`,
      );
      expect(text).not.toMatch(/^ERROR faked/m);
      expect(text).not.toContain('x'.repeat(2000));
      expect(text).not.toContain(key);
    });
  });
});
