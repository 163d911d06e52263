import type { AppSnapshot } from '../model/snapshot.ts';
import { appFamilies } from './families.ts';
import type { AppFamily } from './family.ts';
import { labelValueOf, mayBeAltered } from './label-value.ts';
import { renderLabels, renderSamples, type Sample, type SharedLabels } from './render.ts';

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

/** The lines of one family. */
interface FamilyLines {
  readonly parts: readonly Buffer[];
  readonly lines: number;
  readonly duplicates: number;
}

/** Renders in pieces, leaving out every sample whose labels an earlier one has. */
function renderFamily(family: AppFamily, snapshot: AppSnapshot, shared: SharedLabels): FamilyLines {
  // Labels that nobody altered differ as their originals do. Only the others are compared.
  const seen = new Set<string>();
  const parts: Buffer[] = [];
  let lines = 0;
  let duplicates = 0;
  let piece: Sample[] = [];
  const flush = (): void => {
    if (piece.length === 0) return;
    parts.push(Buffer.from(renderSamples(family.name, shared, piece)));
    lines += piece.length;
    piece = [];
  };
  for (const sample of family.samplesOf(snapshot)) {
    if (mayBeAltered(sample.labels) && seen.size === seen.add(sample.labels).size) {
      duplicates += 1;
    } else if (piece.push(sample) >= pieceLength) {
      flush();
    }
  }
  flush();
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
 * @param previous what was rendered of it before: families whose sources are the same are copied
 */
export function renderApp(snapshot: AppSnapshot, previous?: RenderedApp): AppChunk {
  const shared = sharedLabelsOf(snapshot);
  const identity = `${shared.before} ${shared.after}`;
  const known = previous?.chunk.identity === identity ? previous : undefined;
  const families = appFamilies.map((family, index) =>
    known !== undefined && family.sources.every((part) => known.snapshot[part] === snapshot[part])
      ? linesOf(known.chunk, index)
      : renderFamily(family, snapshot, shared),
  );
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
