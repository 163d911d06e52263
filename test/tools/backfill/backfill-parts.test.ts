import { cpSync } from 'node:fs';
import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { eachAfter, slow } from '../../support/slow.ts';
import {
  accountOf,
  type Backfilled,
  backfilled,
  shortRun as run,
  stopAt,
  temporaryDirectory,
  undisturbed,
} from './backfill-bench.ts';

const later = '2026-09-01T10:02:30Z';

/** A run that was stopped before a call: its directory, and where its parts are. */
async function stopped(call: number) {
  const directory = await temporaryDirectory();
  await backfilled({ ...run, directory, beforeCall: stopAt(call) });
  const parts = join(directory, 'past.om.parts');
  const names = (await readdir(parts)).filter((name) => name.endsWith('.part'));
  return { directory, parts, names };
}

describe('a directory of parts', () => {
  let whole: Backfilled;
  beforeAll(async () => {
    whole = await undisturbed(run);
  });

  it('is of one run: a second one is refused, and asks nothing', slow, async () => {
    const directory = await temporaryDirectory();
    let other: Promise<Backfilled> | undefined;
    const first = await backfilled({
      ...run,
      directory,
      beforeCall: (call) => {
        if (call === 3) other = backfilled({ ...run, directory });
      },
    });
    const second = await other;

    expect([first.exitCode, second?.exitCode, second?.calls]).toEqual([0, 2, 0]);
    expect(second?.stderr).toMatch(
      /past\.om\.parts is in use until 2026-09-01T10:0\S+ by a run on/u,
    );
    expect(first.output).toBe(whole.output);
    expect(first.left).toEqual(['plan.json']);
  });

  it(
    'of a run that was killed is refused for a minute, and then taken over with all parts',
    slow,
    async () => {
      const [directory, killed] = [await temporaryDirectory(), await temporaryDirectory()];
      await backfilled({
        ...run,
        directory: killed,
        // As the disk is when the process is killed.
        beforeCall: (call) => {
          if (call === whole.calls) cpSync(killed, directory, { recursive: true });
        },
      });
      const lock = join(directory, 'past.om.parts', 'lock');
      const touched = Date.parse('2026-09-01T10:00:30Z') / 1000;
      await utimes(lock, touched, touched);
      const atOnce = await backfilled({ ...run, directory });
      const next = await backfilled({ ...run, directory, at: '2026-09-01T10:01:30Z' });

      expect([atOnce.exitCode, atOnce.calls]).toEqual([2, 0]);
      expect(next).toMatchObject({ exitCode: 0, output: whole.output });
      expect(next.calls).toBeLessThan(whole.calls - 1);
    },
  );

  type Change = (parts: string, names: readonly string[]) => Promise<void>;
  const changes: Readonly<Record<string, Change>> = {
    cut: async (parts, [name = '']) => truncate(join(parts, name), 300),
    'cut to nothing': async (parts, [name = '']) => truncate(join(parts, name), 0),
    'taken away': async (parts, [name = '']) => rm(join(parts, name)),
    'made longer': async (parts, [name = '']) =>
      writeFile(join(parts, name), 'newrelic_x{} 1\n', { flag: 'a' }),
    swapped: async (parts, [one = '', other = '']) => {
      await rename(join(parts, one), join(parts, 'x'));
      await rename(join(parts, other), join(parts, one));
      await rename(join(parts, 'x'), join(parts, other));
    },
  };
  it.each(Object.entries(changes))(
    'of which a part was %s is asked for just that',
    slow,
    async (what, change) => {
      const { directory, parts, names } = await stopped(whole.calls);
      const untouched = await temporaryDirectory();
      cpSync(directory, untouched, { recursive: true });
      await change(parts, names);
      const changed = await backfilled({ ...run, directory });
      const usual = await backfilled({ ...run, directory: untouched });

      expect(changed).toMatchObject({ exitCode: 0, output: whole.output });
      expect(changed.calls).toBe(usual.calls + (what === 'swapped' ? 2 : 1));
    },
  );

  it('is asked again for what somebody takes away while the run goes on', slow, async () => {
    const directory = await temporaryDirectory();
    const parts = join(directory, 'past.om.parts');
    let gone: Promise<void> | undefined;
    const { exitCode, output, calls } = await backfilled({
      ...run,
      directory,
      beforeCall: (call) => {
        if (call !== whole.calls) return;
        gone = readdir(parts).then(async (names) =>
          rm(join(parts, names.find((name) => name.endsWith('.part')) ?? '')),
        );
      },
    });
    await gone;

    expect({ exitCode, output, calls }).toEqual({
      exitCode: 0,
      output: whole.output,
      calls: whole.calls + 1,
    });
  });

  eachAfter(1, ['', '{"asked":"2026', '{}', '{"asked":"","nowMs":1,"toMs":1,"accounts":[]}'])(
    'with the plan %j, which cannot be read, says what to do',

    async (text) => {
      const directory = await temporaryDirectory();
      const plan = join(directory, 'past.om.parts', 'plan.json');
      await mkdir(join(directory, 'past.om.parts'));
      await writeFile(plan, text);
      const { exitCode, stderr, calls } = await backfilled({ ...run, directory });

      expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
      expect(stderr).toMatch(
        /is broken, or of another version: remove \S*past\.om\.parts, or begin anew/u,
      );
      expect(stderr).not.toContain('    at ');
      expect(await readFile(plan, 'utf8')).toBe(text);
      const anew = await backfilled({ ...run, directory, flags: [...run.flags, '--restart'] });
      expect(anew).toMatchObject({ exitCode: 0, left: ['plan.json'] });
    },
  );

  it('is of the host that it asks about, and of no other one', async () => {
    const directory = await temporaryDirectory();
    const file = `${accountOf('nerdgraph')}apps: [{ match: ".", hosts: self, application: false }]\n`;
    const own = { ...run, file, directory };
    await backfilled({ ...own, flags: [...run.flags, '--host-name=one'], beforeCall: stopAt(2) });
    const { exitCode, calls, stderr } = await backfilled({
      ...own,
      flags: [...run.flags, '--host-name=two'],
    });

    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
    expect(stderr).toContain(', self one)');
  });

  it('is begun anew with --restart, which also asks for something else', slow, async () => {
    const { directory, names } = await stopped(5);
    const other = [...run.flags, '--only=queries', '--restart'];
    const { exitCode, output, left } = await backfilled({ ...run, directory, flags: other });

    expect(names.length).toBeGreaterThan(0);
    expect({ exitCode, left }).toEqual({ exitCode: 0, left: ['plan.json'] });
    expect(output).toBe((await backfilled({ ...run, flags: other })).output);
    // What is whole is not of the run that begins anew.
    const again = await backfilled({ ...run, directory, flags: other });
    expect({ exitCode: again.exitCode, output: again.output }).toEqual({ exitCode: 2, output });
  });

  it('keeps what is not of a run, and a past that was changed', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'past.om');
    await mkdir(`${path}.parts`);
    await writeFile(join(`${path}.parts`, 'mine.txt'), 'mine');
    await writeFile(`${path}.00000000-0000-0000-0000-00000000000a.tmp`, 'of a run that was killed');
    await writeFile(`${path}.tmp`, 'mine');
    const first = await backfilled({ ...run, directory });
    await writeFile(path, 'mine', { flag: 'a' });
    const again = await backfilled({ ...run, directory, at: later });

    expect(first).toMatchObject({ exitCode: 0, left: ['mine.txt', 'plan.json'] });
    expect(again).toMatchObject({ exitCode: 2, calls: 0, output: `${first.output}mine` });
    expect((await readdir(directory)).toSorted()).toEqual([
      'past.om',
      'past.om.parts',
      'past.om.tmp',
    ]);
  });
});
