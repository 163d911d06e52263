import type { AppSnapshot } from '../model/snapshot.ts';
import { type AppFamily, appFamilies } from './families.ts';
import {
  labelValueOf,
  mayBeAltered,
  renderLabels,
  renderSamples,
  type Sample,
  type SharedLabels,
} from './render.ts';

/** The rendered series of one application: immutable, replaced as a whole. */
export interface AppChunk {
  /** The labels that all its series share. Two applications with the same would collide. */
  readonly identity: string;
  /** Holds the lines; may hold those of other applications too. Nobody writes to it. */
  readonly bytes: Buffer;
  /** Where the lines of each of `appFamilies` start and end in `bytes`: two numbers for each. */
  readonly ranges: readonly number[];
  /** How many lines each of `appFamilies` has. */
  readonly lines: readonly number[];
  /** How many lines of each were left out because another one had the same labels. */
  readonly duplicateLines: readonly number[];
  readonly series: number;
  /** Series left out, of all families. */
  readonly duplicates: number;
}

/** A chunk, and what it was rendered from. */
export interface RenderedApp {
  readonly snapshot: AppSnapshot;
  readonly chunk: AppChunk;
}

/** Renders piece by piece, and yields how many lines each of them has. */
export type AppRendering = Generator<number, AppChunk, void>;

/** Lines per string: strings of megabytes would be garbage of megabytes. */
const pieceLength = 256;

function sharedLabelsOf({ account, application, labels }: AppSnapshot): SharedLabels {
  const extra = Object.entries(labels).map(([name, value]) => [name, labelValueOf(value)] as const);
  return {
    before: renderLabels([
      ['account', labelValueOf(account)],
      ['app_id', labelValueOf(application.id)],
      ['app_name', labelValueOf(application.name)],
    ]),
    after: renderLabels(extra),
  };
}

function identityFrom({ before, after }: SharedLabels): string {
  return `${before} ${after}`;
}

/** The identity of the chunk that the snapshot is going to be. */
export function identityOf(snapshot: AppSnapshot): string {
  return identityFrom(sharedLabelsOf(snapshot));
}

/** The lines of one family. */
interface FamilyLines {
  readonly parts: readonly Buffer[];
  readonly lines: number;
  readonly duplicates: number;
}

function isShown({ isOfHosts = false }: AppFamily, { hostsOnly }: AppSnapshot): boolean {
  return isOfHosts || !hostsOnly;
}

/** Renders in pieces, leaving out every sample whose labels an earlier one has. */
function* renderFamily(
  family: AppFamily,
  snapshot: AppSnapshot,
  shared: SharedLabels,
): Generator<number, FamilyLines, void> {
  // Labels that nobody altered differ as their originals do. Only the others are compared.
  const seen = new Set<string>();
  const parts: Buffer[] = [];
  let lines = 0;
  let duplicates = 0;
  let piece: Sample[] = [];
  const flush = (): number => {
    const { length } = piece;
    if (length > 0) parts.push(Buffer.from(renderSamples(family.name, shared, piece)));
    lines += length;
    piece = [];
    return length;
  };
  const samples = isShown(family, snapshot) ? family.samplesOf(snapshot) : [];
  for (const sample of samples) {
    if (mayBeAltered(sample.labels) && seen.size === seen.add(sample.labels).size) {
      duplicates += 1;
    } else if (piece.push(sample) >= pieceLength) {
      yield flush();
    }
  }
  yield flush();
  return { parts, lines, duplicates };
}

function linesOf({ bytes, ranges, lines, duplicateLines }: AppChunk, family: number): FamilyLines {
  return {
    parts: [bytes.subarray(ranges[2 * family], ranges[2 * family + 1])],
    lines: lines[family] ?? 0,
    duplicates: duplicateLines[family] ?? 0,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/**
 * Renders all that is published of one application.
 *
 * It may have many thousands of hosts: whoever drives it can let other work in between.
 *
 * @param previous what was rendered of it before: families whose sources are the same are copied
 */
export function* renderApp(snapshot: AppSnapshot, previous?: RenderedApp): AppRendering {
  const shared = sharedLabelsOf(snapshot);
  const identity = identityFrom(shared);
  const known = previous?.chunk.identity === identity ? previous : undefined;
  const families: FamilyLines[] = [];
  for (const [index, family] of appFamilies.entries()) {
    const isSame =
      known !== undefined &&
      isShown(family, known.snapshot) === isShown(family, snapshot) &&
      family.sources.every((part) => known.snapshot[part] === snapshot[part]);
    families.push(
      isSame ? linesOf(known.chunk, index) : yield* renderFamily(family, snapshot, shared),
    );
  }
  const ranges: number[] = [];
  let end = 0;
  for (const { parts } of families) {
    ranges.push(end);
    for (const part of parts) end += part.length;
    ranges.push(end);
  }
  const lines = families.map((one) => one.lines);
  const duplicateLines = families.map((one) => one.duplicates);
  return {
    identity,
    bytes: Buffer.concat(families.flatMap(({ parts }) => parts)),
    ranges,
    lines,
    duplicateLines,
    series: sum(lines),
    duplicates: sum(duplicateLines),
  };
}
