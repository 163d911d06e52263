import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type ChildProgram, startChildProgram } from '../../src/daemon/child-program.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'child-program-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** Starts a program of that text, and gives what it says. */
async function startProgramOf(
  text: string,
  args: readonly string[] = [],
): Promise<{ readonly child: ChildProgram; readonly said: readonly unknown[] }> {
  const path = join(directory, 'program.mjs');
  await writeFile(path, text);
  const said: unknown[] = [];
  const child = startChildProgram(pathToFileURL(path), {
    args,
    heard: (message) => said.push(message),
  });
  return { child, said };
}

describe('startChildProgram', () => {
  it('runs the program with the arguments, hears it, and says with which code it ended', async () => {
    const { child, said } = await startProgramOf(
      'process.send(process.argv.slice(2), () => { process.exitCode = 7; process.disconnect(); })',
      ['serve', '--log.level=debug'],
    );

    expect(await child.ended).toEqual({ kind: 'ended', code: 7, signal: null });
    expect(said).toEqual([['serve', '--log.level=debug']]);
  });

  it('passes a signal on, and says with which one it ended', async () => {
    const { child } = await startProgramOf('setInterval(() => {}, 1000)');
    child.signal('SIGKILL');

    expect(await child.ended).toEqual({ kind: 'ended', code: null, signal: 'SIGKILL' });
    expect(() => child.signal('SIGTERM')).not.toThrow();
  });

  it('says that a process could not be started', async () => {
    const { execPath } = process;
    onTestFinished(() => {
      process.execPath = execPath;
    });
    process.execPath = join(directory, 'no-such-node');
    const { child } = await startProgramOf('');

    expect(await child.ended).toMatchObject({ kind: 'not_started', error: { code: 'ENOENT' } });
    expect(() => child.signal('SIGTERM')).not.toThrow();
  });

  it('leaves no listener on the process behind', async () => {
    const before = process.listenerCount('exit');
    for (const _ of [1, 2, 3]) await (await startProgramOf('')).child.ended;

    expect(process.listenerCount('exit')).toBe(before);
  });
});
