import { deflate, deflateNow, type Packed } from './gzip.ts';
import { endOfOpenMetrics, type Format, toOpenMetrics } from './open-metrics.ts';

/** A part of the exporter's own metrics, as bytes. */
export interface OwnPart {
  readonly identity: Buffer;
  /** The same, compressed when it is first asked for. */
  packed(): Promise<Packed>;
}

/** Turns the exporter's own metrics into bytes. */
export interface OwnMetrics {
  /** All parts; in OpenMetrics, the last one ends the page. */
  parts(format: Format): Promise<readonly OwnPart[]>;
}

export interface OwnMetricsDependencies {
  /**
   * The metrics in text format 0.0.4, as parts of whole families: what changes all the time apart from
   * what hardly ever changes. There are always as many parts, in the same order.
   */
  readonly selfMetrics: () => Promise<readonly string[]>;
}

/** Compressing more than this would take over 0.3 ms of the event loop. */
const largestNow = 256 * 1024;

function createPart(text: string): OwnPart {
  const identity = Buffer.from(text);
  let packed: Promise<Packed> | undefined;
  const pack = async (): Promise<Packed> => ({
    identity,
    deflated: identity.length > largestNow ? await deflate(identity) : deflateNow(identity),
  });
  return {
    identity,
    packed: async () => {
      packed ??= pack();
      return packed;
    },
  };
}

/** Keeps the bytes of each part until its text changes. */
export function createOwnMetrics({ selfMetrics }: OwnMetricsDependencies): OwnMetrics {
  const known: Record<Format, { readonly text: string; readonly part: OwnPart }[]> = {
    text: [],
    openmetrics: [],
  };
  const end = createPart(endOfOpenMetrics);

  const partOf = (format: Format, text: string, index: number): OwnPart => {
    const last = known[format][index];
    if (last?.text === text) return last.part;
    const part = createPart(format === 'openmetrics' ? toOpenMetrics(text) : text);
    known[format][index] = { text, part };
    return part;
  };

  return {
    parts: async (format) => {
      const texts = await selfMetrics();
      const parts = texts.map((text, index) => partOf(format, text, index));
      return format === 'openmetrics' ? [...parts, end] : parts;
    },
  };
}
