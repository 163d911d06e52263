import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { appFamilies, upFamily } from './families.ts';
import { renderHeader } from './render.ts';
import type { AppChunk } from './rendered-application.ts';

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

/**
 * Bytes copied before other work gets its turn, about 1 ms; and how many bytes could be copied in the
 * time that it takes to start a copy, and to measure a chunk or make another one of it.
 */
const turnBytes = 2 * 1024 * 1024;
const bytesPerCopy = 512;
const bytesPerChunk = 2048;

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

/** Lets other work have its turn, going by the work done. */
interface Turns {
  /** Whether so much more work makes it time for `next`. */
  readonly isOver: (workBytes: number) => boolean;
  readonly next: () => Promise<void>;
}

function createTurns(nextTurn: () => Promise<void>): Turns {
  let doneBytes = 0;
  return {
    isOver: (workBytes) => {
      doneBytes += workBytes;
      return doneBytes >= turnBytes;
    },
    next: async () => {
      doneBytes = 0;
      await nextTurn();
    },
  };
}

/** How many bytes the lines of each family have. */
async function familySizes(chunks: readonly AppChunk[], turns: Turns): Promise<readonly number[]> {
  const sizes = appHeaders.map(() => 0);
  for (const chunk of chunks) {
    for (const [family, size] of sizes.entries()) {
      sizes[family] = size + endOf(chunk, family) - startOf(chunk, family);
    }
    if (turns.isOver(bytesPerChunk)) await turns.next();
  }
  return sizes;
}

/** The chunks, as ranges of the page. */
async function chunksOn(
  identity: Buffer,
  chunks: readonly AppChunk[],
  ranges: readonly (readonly number[])[],
  turns: Turns,
): Promise<readonly AppChunk[]> {
  const moved: AppChunk[] = [];
  for (const [index, chunk] of chunks.entries()) {
    moved.push({ ...chunk, bytes: identity, ranges: ranges[index] ?? [] });
    if (turns.isOver(bytesPerChunk)) await turns.next();
  }
  return moved;
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
  const turns = createTurns(nextTurn);
  const sizes = await familySizes(chunks, turns);
  const head = upLines.length === 0 ? [] : [upHeader, ...upLines];
  const headers = appHeaders.map((header, family) => (sizes[family] === 0 ? nothing : header));
  const lineBytes = sizes.reduce((total, size) => total + size, 0);
  const identity = Buffer.allocUnsafeSlow(sizeOf(head) + sizeOf(headers) + lineBytes);
  const ranges: number[][] = chunks.map(() => []);
  let offset = 0;

  for (const bytes of head) offset += bytes.copy(identity, offset);
  for (const [family, header] of headers.entries()) {
    offset += header.copy(identity, offset);
    for (const [index, chunk] of chunks.entries()) {
      const start = offset;
      offset += chunk.bytes.copy(identity, start, startOf(chunk, family), endOf(chunk, family));
      ranges[index]?.push(start, offset);
      if (turns.isOver(offset - start + bytesPerCopy)) await turns.next();
    }
  }
  return { identity, chunks: await chunksOn(identity, chunks, ranges, turns) };
}

/** Keeps the page of the newest state, and builds it at most once for each change. */
export interface PageCache {
  /** The state has changed: pages asked for from now on show it. */
  invalidate(): void;
  /** The page of the state at the time of the call, or of a newer one. Rejects as `build` does. */
  page(): Promise<Page>;
}

/**
 * Shares the page among all who ask for it. One build runs at a time: all who ask for a newer state
 * meanwhile wait for it to end and share the next one, so that a flood of scrapes costs no more.
 */
export function createPageCache(build: () => Promise<Page>): PageCache {
  let version = 0;
  let newest: Page | undefined;
  let running: { readonly version: number; readonly page: Promise<Page> } | undefined;

  const buildVersion = async (built: number): Promise<Page> => {
    const page = await build();
    if (built === version) newest = page;
    return page;
  };

  const start = (): Promise<Page> => {
    const page = buildVersion(version).finally(() => {
      running = undefined;
    });
    running = { version, page };
    return page;
  };

  const page = async (): Promise<Page> => {
    if (newest !== undefined) return newest;
    if (running === undefined) return start();
    if (running.version === version) return running.page;
    return running.page.then(page, page);
  };

  return {
    invalidate: () => {
      version += 1;
      // It is never asked for again, and may be large.
      newest = undefined;
    },
    page,
  };
}

const compress = promisify(gzip);

/**
 * Compresses on another thread. Level 1 costs a third of the time of level 6 and the repetition in
 * a page leaves little to win; larger output pieces than zlib's own save trips between the threads.
 */
export async function gzipFast(bytes: Buffer): Promise<Buffer> {
  return compress(bytes, { level: 1, chunkSize: 64 * 1024 });
}
