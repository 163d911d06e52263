import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';
import { commandWithFaults } from '../../src/demo/demo.ts';

/** The words as a shell gives them to the program. */
function wordsOf(text: string): readonly string[] {
  return Array.from(text.matchAll(/'([^']*)'|\S+/gu), ([word, quoted]) => quoted ?? word);
}

/** What npm starts: the script of package.json, and what follows "--". */
async function startedByNpm(command: string): Promise<string> {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  const [, script = '', rest = ''] = /^npm run (\S+) --(.*)$/u.exec(command) ?? [];
  return `${scripts[script]?.split('&& ').at(-1)}${rest}`;
}

describe('the command of the demo with faults', () => {
  it.each([
    { argv: ['demo'], env: { npm_lifecycle_event: 'demo' }, says: 'npm run demo -- --faults' },
    {
      argv: ['demo', '--demo.hosts=5'],
      env: { npm_lifecycle_event: 'demo' },
      says: 'npm run demo -- --demo.hosts=5 --faults',
    },
    { argv: ['demo'], env: {}, says: 'node dist/main.js demo --faults' },
    {
      argv: ['--web.listen-address=[::1]:9126', 'demo', '--demo.hosts', '5'],
      env: { npm_lifecycle_event: 'start' },
      says: "node dist/main.js '--web.listen-address=[::1]:9126' demo --demo.hosts 5 --faults",
    },
  ])('of $argv and $env starts the same demo, some of which fails', async (started) => {
    const { argv, env, says } = started;

    const command = commandWithFaults(argv, {
      env,
      startedFile: join(process.cwd(), 'dist/main.js'),
    });

    expect(command).toBe(says);
    const line = command.startsWith('npm') ? await startedByNpm(command) : command;
    const words = wordsOf(line);
    const again = parseArguments(words.slice(words.indexOf('dist/main.js') + 1), {});
    const before = parseArguments(argv, {});
    const faults: unknown = expect.stringContaining('fail-app=');
    expect(again).toMatchObject({ kind: 'run', command: 'demo', flags: { demoFaults: faults } });
    expect({ ...again, settings: [], flags: { ...flagsOf(again), demoFaults: '' } }).toEqual({
      ...before,
      settings: [],
    });
  });
});

describe('an installed program', () => {
  it('is started by its name', () => {
    const started = { env: {}, startedFile: '/usr/local/bin/newrelic-exporter' };

    expect(commandWithFaults(['demo'], started)).toBe('newrelic-exporter demo --faults');
  });
});

function flagsOf(parsed: ReturnType<typeof parseArguments>): object {
  return parsed.kind === 'run' ? parsed.flags : {};
}
