import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { constants, crc32, createGzip, deflateRaw } from 'node:zlib';
import { inPageOrder } from './families.ts';
import { type FamilyHead, type RenderedSubject, renderHeader } from './render.ts';

/**
 * New Relic's series, ready to be sent. Being gauges, they are the same in text format 0.0.4 and in
 * OpenMetrics. Nobody writes to these bytes: all readers share them.
 */
export interface Page {
  readonly identity: readonly Buffer[];
  /** The same as the beginning of a gzip member, which `gzipMember` goes on with. */
  readonly gzip: Buffer;
  readonly crc: number;
}

const deflateElsewhere = promisify(deflateRaw);
/**
 * Level 1 takes a third of the time of level 6, and a page is so repetitive that a higher level gains
 * little.
 */
const gzipLevel = 1;

/** Makes a page of bytes that nobody writes to any more; compresses them on another thread. */
export async function packedPage(identity: readonly Buffer[]): Promise<Page> {
  // Flushed but not ended, so that the exporter's own metrics can follow. Pieces larger than zlib's
  // default save trips between the threads.
  const options = { level: gzipLevel, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 };
  const crc = identity.reduce((sum, part) => crc32(part, sum), 0);
  return { identity, gzip: await buffer(Readable.from(identity).pipe(createGzip(options))), crc };
}

/** The families that the subjects may have lines of, in the order of the page. */
function pageFamilies(subjects: readonly RenderedSubject[]): readonly FamilyHead[] {
  // Applications that ask for the same metrics share one list.
  const lists = new Set(subjects.map(({ families }) => families));
  const all = [...lists].flat().toReversed();
  return inPageOrder([...new Map(all.map((one) => [one.name, one])).values()]);
}

/** Lines of so many bytes are sent from where they are: a copy of large ones would take as much memory again. */
const uncopiedBytes = 16 * 1024;
const mostBlockBytes = 1024 * 1024;

/** Bytes one after the other: small ones are copied together, large ones stay where they are. */
class SubjectLines {
  readonly all: Buffer[] = [];
  #block = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** What may be copied at most. */
  #left: number;

  constructor(mostBytes: number) {
    this.#left = mostBytes;
  }

  push(bytes: Buffer, start = 0, end: number = bytes.length): void {
    const length = end - start;
    if (length >= uncopiedBytes) {
      this.flush();
      this.all.push(bytes.subarray(start, end));
    } else {
      if (this.#block.length - this.#end < length) {
        this.flush();
        this.#block = Buffer.allocUnsafeSlow(Math.min(this.#left, mostBlockBytes));
        this.#start = 0;
        this.#end = 0;
      }
      this.#end += bytes.copy(this.#block, this.#end, start, end);
    }
    this.#left -= length;
  }

  flush(): void {
    if (this.#end > this.#start) this.all.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

/**
 * Puts a page together, family by family. It shows the subjects as they are at the call: what is
 * published later replaces them and changes none. Other work runs between two families.
 *
 * @param nextTurn resolves after other work of the process has run, as `setImmediate` does
 */
export async function createPage(
  subjects: readonly RenderedSubject[],
  nextTurn: () => Promise<void>,
): Promise<Page> {
  const families = pageFamilies(subjects).map(({ name, help }) => ({
    name,
    header: Buffer.from(renderHeader(name, help)),
  }));
  const sizes = [...families.map(({ header }) => header), ...subjects.map(({ bytes }) => bytes)];
  const parts = new SubjectLines(sizes.reduce((sum, { length }) => sum + length, 0));
  // The families of each subject are in the order of the page, too.
  const nextFamilies = new Uint32Array(subjects.length);
  for (const { name, header } of families) {
    let isEmpty = true;
    for (const [index, { families: own, bytes, ends }] of subjects.entries()) {
      const place = nextFamilies[index] ?? 0;
      if (own[place]?.name !== name) continue;
      nextFamilies[index] = place + 1;
      const start = ends[place - 1] ?? 0;
      const end = ends[place] ?? start;
      if (end === start) continue;
      if (isEmpty) parts.push(header);
      isEmpty = false;
      parts.push(bytes, start, end);
    }
    await nextTurn();
  }
  parts.flush();
  return packedPage(parts.all);
}

/**
 * The page and what follows it as one gzip member: two would be as valid, but curl and browsers read
 * only the first. Only what follows is compressed again.
 */
export async function gzipMember(page: Page, rest: Buffer): Promise<readonly Buffer[]> {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(rest, page.crc), 0);
  const length = page.identity.reduce((sum, part) => sum + part.length, rest.length);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return [page.gzip, await deflateElsewhere(rest, { level: gzipLevel }), trailer];
}

/** Keeps the page of the newest state, and builds it at most once for each change. */
export interface PageCache {
  /** The state has changed: pages that are asked for from now on show it. */
  invalidate(): void;
  /** The page of the state at the time of the call, or of a newer one. Rejects as `build` does. */
  page(): Promise<Page>;
}

/**
 * Shares each page among all its readers. One build runs at a time. Everyone who asks for a newer
 * state meanwhile waits for it to end and shares the next build: a flood of scrapes costs no more.
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
      // Nobody will ask for it again, and it may be large.
      newest = undefined;
    },
    page,
  };
}

/** The formats of a page: Prometheus' text format 0.0.4, and OpenMetrics 1.0. */
export type Format = 'text' | 'openmetrics';

const familyHead = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm;

/**
 * Turns whole families from text format 0.0.4 into the end of a page in OpenMetrics. Samples are the same
 * in both, but a counter's family has no `_total` in its name there, and quotes in a help text are escaped.
 * A family of gauges without quotes in its help, such as all of New Relic's, is the same in both
 * formats.
 *
 * A registry of prom-client can do this too, but only for good: it renames its counters in place, and
 * from then on the text format lacks `_total`.
 */
export function toOpenMetrics(text: string): string {
  const families = text.replaceAll(familyHead, (_, name: string, help: string, type: string) => {
    const family = type === 'counter' && name.endsWith('_total') ? name.slice(0, -6) : name;
    return `# HELP ${family} ${help.replaceAll('"', String.raw`\"`)}\n# TYPE ${family} ${type}`;
  });
  return `${families}# EOF\n`;
}
