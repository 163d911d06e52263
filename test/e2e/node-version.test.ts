import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { mainFile, withFiles } from '../support/daemon-process.ts';

const execute = promisify(execFile);

/** Makes this Node look like one of Debian 12. */
const anOldNode = [
  "Object.defineProperty(process, 'version', { value: 'v18.20.8' });",
  'delete Array.prototype.toSorted;',
].join('\n');

describe('the compiled program on an old Node', () => {
  it.each([{ args: [] }, { args: ['serve'] }, { args: ['--version'] }, { args: ['demo'] }])(
    'says on one line what it needs, and exits with 1: $args',
    async ({ args }) => {
      await withFiles({ 'old.cjs': anOldNode }, async (folder) => {
        const run = execute(process.execPath, [
          '--require',
          `${folder}/old.cjs`,
          mainFile,
          ...args,
        ]);

        await expect(run).rejects.toMatchObject({
          code: 1,
          stdout: '',
          stderr: expect.stringMatching(
            /^newrelic-exporter needs Node\.js 20\.18\.1 or newer, but \S+ is v18\.20\.8: install .*\n$/u,
          ),
        });
      });
    },
  );
});
