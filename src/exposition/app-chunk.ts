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
  readonly series: number;
  /** Series left out because another one of the family had the same labels. */
  readonly duplicates: number;
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

/** Renders one family in pieces, leaving out every sample whose labels an earlier one has. */
class FamilyRenderer {
  readonly parts: Buffer[] = [];
  bytes = 0;
  series = 0;
  duplicates = 0;
  readonly #shared: SharedLabels;

  constructor(shared: SharedLabels) {
    this.#shared = shared;
  }

  render(family: AppFamily, snapshot: AppSnapshot): void {
    // Labels that nobody altered differ as their originals do. Only the others are compared.
    const seen = new Set<string>();
    let piece: Sample[] = [];
    for (const sample of family.samplesOf(snapshot)) {
      if (mayBeAltered(sample.labels) && seen.size === seen.add(sample.labels).size) {
        this.duplicates += 1;
        continue;
      }
      if (piece.push(sample) < pieceLength) continue;
      this.#flush(family.name, piece);
      piece = [];
    }
    this.#flush(family.name, piece);
  }

  #flush(name: string, piece: readonly Sample[]): void {
    if (piece.length === 0) return;
    const part = Buffer.from(renderSamples(name, this.#shared, piece));
    this.parts.push(part);
    this.bytes += part.length;
    this.series += piece.length;
  }
}

/** Renders all that is published of one application. */
export function renderApp(snapshot: AppSnapshot): AppChunk {
  const shared = sharedLabelsOf(snapshot);
  const renderer = new FamilyRenderer(shared);
  const ranges: number[] = [];
  for (const family of appFamilies) {
    ranges.push(renderer.bytes);
    renderer.render(family, snapshot);
    ranges.push(renderer.bytes);
  }
  return {
    identity: `${shared.before} ${shared.after}`,
    bytes: Buffer.concat(renderer.parts),
    ranges,
    series: renderer.series,
    duplicates: renderer.duplicates,
  };
}
