import { type ParsedSample, parseExposition } from '../support/exposition-parser.ts';

type Labels = Readonly<Record<string, string>>;

/** One page, read. */
export interface Scrape {
  /** The value of the one series that has these labels; `undefined` when there is none. */
  value(name: string, labels?: Labels): number | undefined;
  /** The sum over all series that have these labels. */
  total(name: string, labels?: Labels): number;
  /** The labels of every series that has these labels. */
  series(name: string, labels?: Labels): readonly Labels[];
}

/** Throws if the page is no valid exposition, or if a series stands there twice. */
export function readScrape(text: string): Scrape {
  const samples = parseExposition(Buffer.from(text)).flatMap((family) => family.samples);
  const find = (name: string, labels: Labels): readonly ParsedSample[] => {
    const wanted = Object.entries(labels);
    return samples.filter((sample) => {
      if (sample.name !== name) return false;
      const own = new Map(sample.labels);
      return wanted.every(([key, value]) => own.get(key) === value);
    });
  };
  return {
    value: (name, labels = {}) => {
      const [first, ...others] = find(name, labels);
      if (others.length > 0) throw new Error(`${name} has several series with these labels`);
      return first?.value;
    },
    total: (name, labels = {}) => find(name, labels).reduce((sum, { value }) => sum + value, 0),
    series: (name, labels = {}) =>
      find(name, labels).map((sample) => Object.fromEntries(sample.labels)),
  };
}
