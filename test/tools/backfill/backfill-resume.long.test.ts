import { writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../src/cli/arguments.ts';
import { backfill } from '../../../src/tools/backfill/backfill.ts';
import { writeWhole } from '../../../src/tools/write-whole.ts';
import { diskDone } from '../../support/disk-done.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { backfilled, smallRun, stopAt, temporaryDirectory } from './backfill-bench.ts';

const run = smallRun;
const { file, flags } = run;

describe('backfill, interrupted', () => {
  it('goes on where it was, to the same bytes, wherever it was stopped, and asks nothing twice', async () => {
    const whole = await backfilled(run);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
        async (stops) => {
          const directory = await temporaryDirectory();
          let asked = 0;
          for (const stop of stops) {
            const { calls } = await backfilled({
              ...run,
              directory,
              beforeCall: stopAt(stop),
            });
            asked += calls;
          }
          const last = await backfilled({ ...run, directory });
          const again = await backfilled({ ...run, directory });

          expect(last.exitCode).toBe(0);
          expect(last.output).toBe(whole.output);
          // A stop throws away what was on its way: five calls, and the list of a run that has no plan yet.
          expect(asked + last.calls).toBeLessThanOrEqual(whole.calls + 7 * stops.length);
          expect(again).toMatchObject({ exitCode: 0, calls: 0, left: ['plan.json'] });
          expect(again.stdout).toContain('there is nothing to ask');
        },
      ),
      { numRuns: 4 },
    );
  });

  it.each([
    {
      what: 'New Relic refuses the key',
      fault: { kind: 'status', status: 401 },
      says: 'status 401',
    },
    {
      what: 'New Relic is out of order for hours',
      fault: { kind: 'status', status: 503 },
      says: '503',
    },
  ] as const)(
    'keeps what it has when $what, and says why and how to go on',
    async ({ fault, says }) => {
      const directory = await temporaryDirectory();
      const whole = await backfilled(run);
      const broken = await backfilled({
        ...run,
        directory,
        rules: [{ fault, when: { calls: { first: 9 } } }],
      });
      const { exitCode, calls, output } = await backfilled({ ...run, directory });

      expect(broken).toMatchObject({ exitCode: 1, output: undefined });
      expect(broken.stderr).toContain(says);
      expect(broken.stderr).toContain('start the same command again to go on');
      expect(broken.left.filter((name) => name.endsWith('.part')).length).toBeGreaterThan(2);
      expect({ exitCode, output }).toEqual({ exitCode: 0, output: whole.output });
      // What the first run has is not asked for again.
      expect(calls).toBeLessThan(whole.calls - 2);
    },
  );

  it('waits out a refusal of the rate for half an hour', async () => {
    const fault = {
      kind: 'throttled',
      hints: [{ header: 'Retry-After', inSeconds: 600, form: 'seconds' }],
    } as const;
    const rules = [{ fault, when: { calls: { first: 5, last: 8 } } }];
    const { exitCode, output, elapsedMs } = await backfilled({ ...run, rules });

    expect({ exitCode, output }).toEqual({ exitCode: 0, output: (await backfilled(run)).output });
    expect(elapsedMs).toBeGreaterThan(600_000);
  });

  it('keeps what it has when a slice cannot be written, and what a kill has left is no slice', async () => {
    const whole = await backfilled(run);
    const first = await temporaryDirectory();
    const parts = join(first, 'past.om.parts');
    await backfilled({ ...run, directory: first, beforeCall: stopAt(9) });
    const name = (await readdir(parts)).find((one) => one.endsWith('.part')) ?? '';
    // A directory of that name cannot be replaced by a file.
    await rm(join(parts, name));
    await mkdir(join(parts, name, 'x'), { recursive: true });
    await writeFile(join(parts, `${name}.0a-1b.tmp`), 'half of');
    const broken = await backfilled({ ...run, directory: first });
    await rm(join(parts, name), { recursive: true });
    const { exitCode, output, left } = await backfilled({ ...run, directory: first });

    expect(broken).toMatchObject({ exitCode: 1, output: undefined });
    expect(broken.stderr).toMatch(/EISDIR.*\n.*start the same command again to go on/u);
    expect({ exitCode, output, left }).toEqual({
      exitCode: 0,
      output: whole.output,
      left: ['plan.json'],
    });
  });

  it('stops at once while slices are put together, and goes on with them', async () => {
    const whole = await backfilled(run);
    const directory = await temporaryDirectory();
    const output = join(directory, 'past.om');
    const unwritten = await backfilled({
      ...run,
      directory,
      beforeCall: (call) => {
        if (call === whole.calls) writeFileSync(output, 'mine');
      },
    });
    await rm(output);
    const platform = createFakePlatform({
      files: { 'c.yaml': file },
      env: { KEY: 'NRAK-GOOD' },
      openTransport: async () => ({
        send: async () => expect.unreachable('nothing is asked'),
        close: async () => undefined,
      }),
    });
    const parsed = parseArguments(['backfill', 'c.yaml', ...flags, `--output=${output}`], {});
    if (parsed.kind !== 'run') throw new Error('the arguments are wrong');
    const ending = backfill(parsed.flags, platform, async (path, pieces, signal, how) => {
      if (path === output) platform.stop();
      return writeWhole(path, pieces, signal, how);
    });

    const outcome = ending.then(() => 'done', String);
    const { stopSignal, clock } = platform;
    while (!stopSignal.aborted) {
      await diskDone();
      await clock.advance(1000);
    }
    const how = await outcome;
    const last = await backfilled({ ...run, directory });

    expect(how).toContain('stopped by the test');
    expect(unwritten).toMatchObject({ exitCode: 2, output: 'mine' });
    expect(last).toMatchObject({ exitCode: 0, calls: 0, output: whole.output });
  });

  it.each([
    { what: 'other times', more: ['--from=2026-08-31T03:00:00Z', flags[1] ?? ''] },
    { what: 'another step', more: [...flags, '--step=5m'] },
    { what: 'other applications', more: [...flags, '--app=Checkout (production)'] },
    { what: 'another configuration', more: flags, text: file.replace('errors', 'apdex') },
  ])('takes no part of a run with $what', async ({ more, text = file }) => {
    const directory = await temporaryDirectory();
    const stopped = await backfilled({
      ...run,
      directory,
      beforeCall: stopAt(8),
    });
    const other = await backfilled({ ...run, file: text, flags: more, directory });

    expect(other).toMatchObject({ exitCode: 2, calls: 0, left: stopped.left });
    expect(other.stderr).toContain('past.om.parts is of another run (2026-08-31T02:00:00Z to');
  });

  it('writes over no file that is not of its own, and again one that was taken away', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'past.om');
    await writeFile(path, 'mine');
    const refused = await backfilled({ ...run, directory });
    const kept = await readFile(path, 'utf8');
    await rm(path);
    const first = await backfilled({ ...run, directory });
    await rm(path);
    const again = await backfilled({ ...run, directory });

    expect({ exitCode: refused.exitCode, kept }).toEqual({ exitCode: 2, kept: 'mine' });
    expect(refused.stderr).toContain('is there, and not of this run');
    expect(again).toMatchObject({ exitCode: 0, output: first.output });
  });
});
