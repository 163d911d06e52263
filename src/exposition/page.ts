import type { AppChunk } from './app-chunk.ts';
import { appFamilies, upFamily } from './families.ts';
import { renderHeader } from './render.ts';

/** The vendor's series in text format 0.0.4, ready to be sent. Nobody writes to these bytes. */
export interface Page {
  readonly identity: Buffer;
  /** The same as one gzip member. */
  readonly gzip: Buffer;
}

/** All families in one buffer, and the same chunks again, as ranges of it. */
export interface AssembledPage {
  readonly identity: Buffer;
  readonly chunks: readonly AppChunk[];
}

/** Bytes copied before other work gets its turn, about 1 ms, and what starting a copy costs. */
const turnBytes = 2 * 1024 * 1024;
const bytesPerCopy = 512;

const nothing = Buffer.alloc(0);
const upHeader = Buffer.from(renderHeader(upFamily.name, upFamily.help));
const appHeaders: readonly Buffer[] = appFamilies.map(({ name, help }) =>
  Buffer.from(renderHeader(name, help)),
);

const startOf = ({ ranges }: AppChunk, family: number): number => ranges[2 * family] ?? 0;
const endOf = ({ ranges }: AppChunk, family: number): number => ranges[2 * family + 1] ?? 0;

function sizeOf(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, { length }) => sum + length, 0);
}

function sizeOfLines(chunks: readonly AppChunk[]): number {
  let size = 0;
  for (const chunk of chunks) {
    for (const family of appHeaders.keys()) size += endOf(chunk, family) - startOf(chunk, family);
  }
  return size;
}

/**
 * Puts the lines together, family by family, each with its header if it has any line. The chunks
 * that it returns are ranges of the new buffer, so that who keeps them keeps every line only once.
 *
 * @param nextTurn resolves after other work of the process had its turn.
 */
export async function assemblePage(
  upLines: readonly Buffer[],
  chunks: readonly AppChunk[],
  nextTurn: () => Promise<void>,
): Promise<AssembledPage> {
  const head = upLines.length === 0 ? [] : [upHeader, ...upLines];
  const headers = appHeaders.map((header, family) =>
    chunks.some((chunk) => endOf(chunk, family) > startOf(chunk, family)) ? header : nothing,
  );
  const identity = Buffer.allocUnsafeSlow(sizeOf(head) + sizeOf(headers) + sizeOfLines(chunks));
  const newRanges: number[][] = chunks.map(() => []);
  let offset = 0;
  let turn = 0;

  for (const bytes of head) offset += bytes.copy(identity, offset);
  for (const [family, header] of headers.entries()) {
    offset += header.copy(identity, offset);
    for (const [index, chunk] of chunks.entries()) {
      const start = offset;
      offset += chunk.bytes.copy(identity, start, startOf(chunk, family), endOf(chunk, family));
      newRanges[index]?.push(start, offset);
      turn += offset - start + bytesPerCopy;
      if (turn < turnBytes) continue;
      turn = 0;
      await nextTurn();
    }
  }
  return {
    identity,
    chunks: chunks.map((chunk, index) => ({
      ...chunk,
      bytes: identity,
      ranges: newRanges[index] ?? [],
    })),
  };
}
