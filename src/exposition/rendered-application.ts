import type { AppSnapshot } from '../model/snapshot.ts';
import type { AppFamily, HostLabelsOf } from './families.ts';
import {
  labelValueOf,
  mayBeAltered,
  renderLabels,
  renderSamples,
  type Sample,
  type SharedLabels,
} from './render.ts';

/** The series of one application as text: immutable, replaced as a whole. */
export interface RenderedApplication {
  /** What was rendered. */
  readonly snapshot: AppSnapshot;
  /** The labels that all its series share. Two applications with the same identity would collide. */
  readonly identity: string;
  /** Holds the lines, and perhaps those of other applications too. Nobody writes to it. */
  readonly bytes: Buffer;
  /** The families that it may have lines of, in the order of the page. */
  readonly families: readonly AppFamily[];
  /** Where the lines of each of `families` start and end in `bytes`: two numbers for each. */
  readonly ranges: readonly number[];
  /** The number of lines of each of `families`. */
  readonly lines: readonly number[];
  /** The number of lines of each that were left out because another one had the same labels. */
  readonly duplicateLines: readonly number[];
  readonly series: number;
  /** Series left out, of all families. */
  readonly duplicates: number;
}

/** Renders piece by piece, and yields the work of each piece: the lines that would take as long. */
export type Rendering = Generator<number, RenderedApplication, void>;

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

/** The identity that the snapshot will have when it is rendered. */
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

interface RenderedLabels {
  readonly shared: SharedLabels;
  readonly hostLabelsOf: HostLabelsOf;
}

/** Renders the labels of each host once, however many gauges it has. */
function hostLabelsFrom(hostNames: AppSnapshot['hostNames']): HostLabelsOf {
  const known = new Map<string, string>();
  return (hostId) => {
    const before = known.get(hostId);
    if (before !== undefined) return before;
    const name = hostNames.get(hostId);
    const labels = renderLabels([
      ['host_id', labelValueOf(hostId)],
      ['host_name', labelValueOf(name === undefined || name === '' ? hostId : name)],
    ]);
    known.set(hostId, labels);
    return labels;
  };
}

/** Renders in pieces, and leaves out every sample whose labels an earlier one has. */
function* renderFamily(
  family: AppFamily,
  snapshot: AppSnapshot,
  { shared, hostLabelsOf }: RenderedLabels,
): Generator<number, FamilyLines, void> {
  // Unaltered labels differ because their originals do. Only the others need a comparison.
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
  const samples = isShown(family, snapshot) ? family.samplesOf(snapshot, hostLabelsOf) : [];
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

function linesOf(
  { bytes, ranges, lines, duplicateLines }: RenderedApplication,
  family: number,
): FamilyLines {
  return {
    parts: [bytes.subarray(ranges[2 * family], ranges[2 * family + 1])],
    lines: lines[family] ?? 0,
    duplicates: duplicateLines[family] ?? 0,
  };
}

/** Copying so many bytes takes as long as rendering a line. */
const bytesPerLine = 8192;

/** Copies in pieces: the lines of an application with many thousands of hosts are many megabytes. */
function* joined(parts: readonly Buffer[], length: number): Generator<number, Buffer, void> {
  const bytes = Buffer.allocUnsafe(length);
  let end = 0;
  for (const part of parts) {
    end += part.copy(bytes, end);
    yield part.length / bytesPerLine;
  }
  return bytes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/**
 * Renders all that is published of one application.
 *
 * It may have many thousands of hosts: the caller can let other work run between the pieces.
 *
 * @param families the families that it may have lines of, in the order of the page
 * @param previous what was rendered of it before: families whose sources are unchanged are copied
 */
export function* renderApplication(
  snapshot: AppSnapshot,
  families: readonly AppFamily[],
  previous?: RenderedApplication,
): Rendering {
  const shared = sharedLabelsOf(snapshot);
  const labels = { shared, hostLabelsOf: hostLabelsFrom(snapshot.hostNames) };
  const identity = identityFrom(shared);
  const known = previous?.identity === identity ? previous : undefined;
  const rendered: FamilyLines[] = [];
  for (const family of families) {
    const index = known === undefined ? -1 : known.families.indexOf(family);
    const isSame =
      known !== undefined &&
      index >= 0 &&
      isShown(family, known.snapshot) === isShown(family, snapshot) &&
      family.sources.every((part) => known.snapshot[part] === snapshot[part]);
    rendered.push(isSame ? linesOf(known, index) : yield* renderFamily(family, snapshot, labels));
  }
  const ranges: number[] = [];
  let end = 0;
  for (const one of rendered) {
    ranges.push(end);
    for (const part of one.parts) end += part.length;
    ranges.push(end);
  }
  const lines = rendered.map((one) => one.lines);
  const duplicateLines = rendered.map((one) => one.duplicates);
  const parts = rendered.flatMap((one) => one.parts);
  return {
    snapshot,
    identity,
    families,
    bytes: yield* joined(parts, end),
    ranges,
    lines,
    duplicateLines,
    series: sum(lines),
    duplicates: sum(duplicateLines),
  };
}
