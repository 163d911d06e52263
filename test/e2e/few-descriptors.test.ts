import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { mainFile } from '../support/daemon-process.ts';
import { skipUnless } from '../support/tools.ts';

const unix = skipUnless(process.platform !== 'win32', 'they need a Unix shell');

const execute = promisify(execFile);

/** Runs the program with so many file descriptors: a command that loads many files. */
async function runWith(descriptors: number): Promise<{ stdout: string; stderr: string }> {
  const script = 'ulimit -n "$1" && exec "$2" "$3" config-schema';
  return execute('sh', ['-c', script, 'sh', String(descriptors), process.execPath, mainFile]);
}

const isNode20 = process.versions.node.startsWith('20.');

describe.skipIf(unix.skip)(`the compiled program${unix.note}`, () => {
  // Node 20 opens all modules at once. Node 24 starts with 40 descriptors all the same.
  it.each(isNode20 ? [40] : [])(
    'says what to do when there are too few descriptors to load it: %d',
    async (descriptors) => {
      const run = runWith(descriptors);

      await expect(run).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^newrelic-exporter ran out of file descriptors: raise/u),
      });
      await expect(run).rejects.toMatchObject({
        stderr: expect.not.stringContaining('fault of the'),
      });
    },
  );

  it('starts with as many as that says', async () => {
    expect((await runWith(1024)).stdout).toContain('"$schema"');
  });
});
