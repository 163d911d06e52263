import { type AppFamily, upFamily } from './families.ts';
import { checksum, type Summed } from './gzip.ts';
import { inPageOrder } from './polled-families.ts';
import { renderHeader } from './render.ts';
import type { RenderedApplication } from './rendered-application.ts';

/**
 * The vendor's series, ready to be sent. Being gauges, they are the same in text format 0.0.4 and in
 * OpenMetrics.
 */
export type Page = Summed;

/** All families in one buffer, and the same applications again, as ranges of it. */
export interface AssembledPage {
  readonly identity: Buffer;
  readonly applications: readonly RenderedApplication[];
}

/** Work between two turns of the event loop, in bytes copied: about 1 ms. */
const turnBytes = 2 * 1024 * 1024;
/** What starting a copy costs, in bytes copied. */
const bytesPerCopy = 512;
/** What measuring or replacing an application costs, in bytes copied. */
const bytesPerApplication = 2048;

const upHeader = Buffer.from(renderHeader(upFamily.name, upFamily.help));

const nothing = Buffer.alloc(0);

const startOf = ({ ranges }: RenderedApplication, position: number): number =>
  ranges[2 * position] ?? 0;
const sizeAt = ({ ranges }: RenderedApplication, position: number): number =>
  (ranges[2 * position + 1] ?? 0) - (ranges[2 * position] ?? 0);

function sizeOf(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, { length }) => sum + length, 0);
}

/** Lets other work run after a certain amount of work. */
interface Turns {
  /** Adds the work just done. Returns whether it is time for `next`. */
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

/** Where an application has the lines of each family of the page; `undefined` where it has none. */
type Positions = readonly (number | undefined)[];

/** What is on a page: families in order, and the applications with the places of their lines. */
interface Layout {
  readonly families: readonly AppFamily[];
  readonly applications: readonly {
    readonly rendered: RenderedApplication;
    readonly positions: Positions;
  }[];
}

/** Applications that ask for the same metrics share one list of families: there are few lists. */
function layoutOf(applications: readonly RenderedApplication[]): Layout {
  const lists = new Set(applications.map(({ families }) => families));
  const byName = new Map<string, AppFamily>();
  for (const family of [...lists].flat()) {
    if (!byName.has(family.name)) byName.set(family.name, family);
  }
  const families = inPageOrder([...byName.values()]);
  const positions = new Map<readonly AppFamily[], Positions>();
  for (const list of lists) {
    const places = new Map(list.map(({ name }, index) => [name, index]));
    positions.set(
      list,
      families.map(({ name }) => places.get(name)),
    );
  }
  return {
    families,
    applications: applications.map((rendered) => ({
      rendered,
      positions: positions.get(rendered.families) ?? [],
    })),
  };
}

/** The size of all lines of each family, in bytes. */
async function familySizes(
  { families, applications }: Layout,
  turns: Turns,
): Promise<readonly number[]> {
  const sizes = families.map(() => 0);
  for (const { rendered, positions } of applications) {
    for (const [family, position] of positions.entries()) {
      if (position === undefined) continue;
      sizes[family] = (sizes[family] ?? 0) + sizeAt(rendered, position);
    }
    if (turns.isOver(bytesPerApplication)) await turns.next();
  }
  return sizes;
}

/** The applications as ranges of the page. */
async function applicationsOn(
  identity: Buffer,
  applications: readonly RenderedApplication[],
  ranges: readonly (readonly number[])[],
  turns: Turns,
): Promise<readonly RenderedApplication[]> {
  const moved: RenderedApplication[] = [];
  for (const [index, application] of applications.entries()) {
    moved.push({ ...application, bytes: identity, ranges: ranges[index] ?? [] });
    if (turns.isOver(bytesPerApplication)) await turns.next();
  }
  return moved;
}

/**
 * Puts the lines together, family by family, each with its header if it has lines. The applications
 * that it returns are ranges of the new buffer, so retaining them does not retain a second copy.
 *
 * @param nextTurn resolves after other work of the process has run
 */
export async function assemblePage(
  upLines: readonly Buffer[],
  applications: readonly RenderedApplication[],
  nextTurn: () => Promise<void>,
): Promise<AssembledPage> {
  const turns = createTurns(nextTurn);
  const layout = layoutOf(applications);
  const sizes = await familySizes(layout, turns);
  const head = upLines.length === 0 ? [] : [upHeader, ...upLines];
  const headers = layout.families.map(({ name, help }, family) =>
    sizes[family] === 0 ? nothing : Buffer.from(renderHeader(name, help)),
  );
  const lineBytes = sizes.reduce((total, size) => total + size, 0);
  const identity = Buffer.allocUnsafeSlow(sizeOf(head) + sizeOf(headers) + lineBytes);
  const ranges: number[][] = applications.map(() => []);
  let offset = 0;

  for (const bytes of head) offset += bytes.copy(identity, offset);
  for (const [family, header] of headers.entries()) {
    offset += header.copy(identity, offset);
    for (const [index, { rendered, positions }] of layout.applications.entries()) {
      const position = positions[family];
      if (position === undefined) continue;
      const start = offset;
      const from = startOf(rendered, position);
      offset += rendered.bytes.copy(identity, start, from, from + sizeAt(rendered, position));
      ranges[index]?.push(start, offset);
      if (turns.isOver(offset - start + bytesPerCopy)) await turns.next();
    }
  }
  return { identity, applications: await applicationsOn(identity, applications, ranges, turns) };
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

export interface PackingDependencies {
  /** Compresses a page into deflate blocks, none of which is the last of its stream. */
  readonly deflate: (bytes: Buffer) => Promise<Buffer>;
  /** Resolves after other work of the process has run, as `setImmediate` does. */
  readonly nextTurn: () => Promise<void>;
}

/** Makes a page of bytes that nobody writes to any more. */
export async function packedPage(
  identity: Buffer,
  { deflate, nextTurn }: PackingDependencies,
): Promise<Page> {
  const [deflated, crc] = await Promise.all([deflate(identity), checksum(identity, nextTurn)]);
  return { identity, deflated, crc };
}
