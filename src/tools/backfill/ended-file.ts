import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { CommandError } from '../../daemon/platform.ts';
import { printable } from '../../model/shown-text.ts';
import type { Pieces } from '../write-whole.ts';

/** What the last line begins with, and no other. */
const endMark = '# end of ';

/** The lines of a file, and behind them its name and how long they are. */
export async function* ended(name: string, lines: Pieces): AsyncGenerator<string> {
  let bytes = 0;
  for await (const line of lines) {
    bytes += Buffer.byteLength(line);
    yield line;
  }
  yield endOf(name, bytes);
}

function endOf(name: string, bytes: number): string {
  return `${endMark}${name} ${bytes}\n`;
}

/** Whether such a file is there as it was written: nothing lacks, and it is in no other's place. */
export async function isWhole(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return false;
  try {
    const { size } = await file.stat();
    const most = endOf(basename(path), size).length;
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(most),
      0,
      most,
      Math.max(0, size - most),
    );
    const last = buffer.toString('utf8', 0, bytesRead);
    const end = last.slice(Math.max(0, last.lastIndexOf(endMark)));
    return end === endOf(basename(path), size - Buffer.byteLength(end));
  } finally {
    await file.close();
  }
}

/** Of each file that is merged: what is read ahead lives long enough to be taken for old by the garbage collector. */
const highWaterMark = 8 * 1024;

/** The lines of such a file without its last one. `node:readline` would read far ahead of whoever takes them. Rejects if it is not whole. */
async function* linesOf(path: string): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith(endMark)) return undefined;
      yield line;
    }
  }
  throw new CommandError(
    1,
    `${printable(path)} was changed by somebody: start the same command again`,
  );
}

/** Characters of a line from which on the next one begins. */
const longLine = 4 * 1024;

/** The lines of sorted files in one order; those of the same series together, in the order of the files, in long lines. */
export async function* merged(paths: readonly string[]): AsyncGenerator<string> {
  const readers = paths.map(linesOf);
  const heads: (readonly [series: string, samples: string] | undefined)[] = [];
  const advance = async (index: number): Promise<void> => {
    const line = (await readers[index]?.next())?.value;
    const tab = line?.indexOf('\t');
    heads[index] = line === undefined ? undefined : [line.slice(0, tab), line.slice(tab)];
  };
  for (const index of readers.keys()) await advance(index);
  for (;;) {
    const [first] = heads.flatMap((head) => head?.[0] ?? []).toSorted();
    if (first === undefined) return;
    let samples = '';
    for (const index of readers.keys()) {
      for (let head = heads[index]; head?.[0] === first; head = heads[index]) {
        samples += head[1];
        await advance(index);
        if (samples.length < longLine) continue;
        yield `${first}${samples}\n`;
        samples = '';
      }
    }
    if (samples !== '') yield `${first}${samples}\n`;
  }
}
