import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ended, isWhole, merged } from '../../../src/tools/backfill/ended-file.ts';

async function listOf(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const list: string[] = [];
  for await (const line of lines) list.push(line);
  return list;
}

/** Writes files with these lines. */
async function filesOf(...all: readonly (readonly string[])[]): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'newrelic-exporter-test-'));
  onTestFinished(async () => rm(directory, { recursive: true }));
  return Promise.all(
    all.map(async (lines, index) => {
      const path = join(directory, String(index));
      await writeFile(path, (await listOf(ended(String(index), lines))).join(''));
      return path;
    }),
  );
}

describe('files that are merged', () => {
  const files = [
    ['a\t1\n', 'b\t1\n', 'c\t1\n'],
    ['b\t2\n', 'd\t2\n'],
    ['a\t3\n', 'b\t3\n'],
  ];
  const expected = ['a\t1\t3\n', 'b\t1\t2\t3\n', 'c\t1\n', 'd\t2\n'];

  it('come in one order, with the samples of a series together', async () => {
    expect(await listOf(merged(await filesOf(...files)))).toEqual(expected);
  });

  it('are the same if some of them were merged before', async () => {
    const paths = await filesOf(...files);
    const before = await listOf(merged(paths.slice(0, 2)));
    const [first = '', second = ''] = await filesOf(before, files[2] ?? []);

    expect(await listOf(merged([first, second]))).toEqual(expected);
  });

  it('have no line that grows with the number of files', async () => {
    const part = `a\t${Array.from({ length: 366 }, (_, at) => `1 ${at}`).join('\t')}\n`;
    const lines = await listOf(merged(await filesOf(...Array.from({ length: 50 }, () => [part]))));

    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(8000);
    expect(lines.map((line) => line.slice(1, -1)).join('')).toBe(part.slice(1, -1).repeat(50));
  });

  it('may have lines that are much longer than what is read at once', async () => {
    const long = `a\t${'1 2\t'.repeat(100_000)}\n`;
    const paths = await filesOf([long, 'b\t1\n'], [long]);

    expect(await listOf(merged(paths))).toEqual([long, long, 'b\t1\n']);
  });

  it('must be whole', async () => {
    const [path = ''] = await filesOf(['a\t1\n', 'b\t1\n']);
    const wasWhole = await isWhole(path);
    await truncate(path, 8);

    expect([wasWhole, await isWhole(path)]).toEqual([true, false]);
    await expect(listOf(merged([path]))).rejects.toThrow('start the same command again');
  });
});
