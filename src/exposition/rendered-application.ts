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

/** The lines of one family of one application. */
export interface FamilyLines {
  /** Nobody writes to it. */
  readonly bytes: Buffer;
  readonly series: number;
  /** Series left out because another one had the same labels. */
  readonly duplicates: number;
}

/** The series of one application as text: immutable, replaced as a whole. */
export interface RenderedApplication {
  /** What was rendered. */
  readonly snapshot: AppSnapshot;
  /** The labels that all its series share. Two applications with the same identity would collide. */
  readonly identity: string;
  /** The families that it may have lines of. */
  readonly families: readonly AppFamily[];
  /** By the name of the family; only those that have lines. */
  readonly lines: ReadonlyMap<string, FamilyLines>;
  /** Of all families. */
  readonly byteLength: number;
  readonly series: number;
  readonly duplicates: number;
}

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

/** Lines per string: strings of megabytes are garbage of megabytes, and take twice as long. */
const pieceLength = 256;

/** Leaves out every sample whose labels an earlier one has. */
function linesOf(name: string, shared: SharedLabels, samples: Iterable<Sample>): FamilyLines {
  // Unaltered labels differ because their originals do. Only the others need a comparison.
  const seen = new Set<string>();
  const parts: Buffer[] = [];
  let piece: Sample[] = [];
  let series = 0;
  let duplicates = 0;
  const flush = (): void => {
    parts.push(Buffer.from(renderSamples(name, shared, piece)));
    series += piece.length;
    piece = [];
  };
  for (const sample of samples) {
    const { host = '', labels } = sample;
    const isCompared = mayBeAltered(host) || mayBeAltered(labels);
    if (isCompared && seen.size === seen.add(`${host},${labels}`).size) duplicates += 1;
    else if (piece.push(sample) === pieceLength) flush();
  }
  flush();
  return { bytes: Buffer.concat(parts), series, duplicates };
}

function isShown({ isOfHosts = false }: AppFamily, { hostsOnly }: AppSnapshot): boolean {
  return isOfHosts || !hostsOnly;
}

/** Whether the family has the same lines as before. */
function isUnchanged(
  family: AppFamily,
  snapshot: AppSnapshot,
  known: RenderedApplication,
): boolean {
  return (
    known.families.includes(family) &&
    isShown(family, known.snapshot) === isShown(family, snapshot) &&
    family.sources.every((part) => known.snapshot[part] === snapshot[part])
  );
}

/**
 * Renders all that is published of one application.
 *
 * @param families the families that it may have lines of
 * @param previous what was rendered of it before: lines that are still the same are kept
 */
export function renderApplication(
  snapshot: AppSnapshot,
  families: readonly AppFamily[],
  previous?: RenderedApplication,
): RenderedApplication {
  const shared = sharedLabelsOf(snapshot);
  const identity = `${shared.before} ${shared.after}`;
  const known = previous?.identity === identity ? previous : undefined;
  const hostLabelsOf = hostLabelsFrom(snapshot.hostNames);
  const lines = new Map<string, FamilyLines>();
  const sums = { byteLength: 0, series: 0, duplicates: 0 };
  for (const family of families) {
    if (!isShown(family, snapshot)) continue;
    const own =
      known !== undefined && isUnchanged(family, snapshot, known)
        ? known.lines.get(family.name)
        : linesOf(family.name, shared, family.samplesOf(snapshot, hostLabelsOf));
    if (own === undefined || own.series === 0) continue;
    lines.set(family.name, own);
    sums.byteLength += own.bytes.length;
    sums.series += own.series;
    sums.duplicates += own.duplicates;
  }
  return { snapshot, identity, families, lines, ...sums };
}
