import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { bareApplication } from '../../model/application.ts';
import { renderHeader } from '../../publish/render.ts';
import type { Pieces, writeWhole } from '../write-whole.ts';
import type { Gauge } from './chains.ts';
import { inGroups, type Page } from './slices.ts';

/** What a run asks about, as it was found at its beginning. */
export interface Plan {
  /** What it was asked for, in words: another run has another output. */
  readonly asked: string;
  readonly nowMs: number;
  readonly toMs: number;
  /** What the entries of each account select. */
  readonly accounts: readonly (readonly PlannedApplication[])[];
}

/** An application as it is asked for, and shown. */
export type PlannedApplication = Parameters<typeof bareApplication>[0];

const [number, string] = [z.number(), z.string()];
const tags = z.record(string, string).optional();
const application = z.object({ id: string, name: string, tags, hostCount: number.optional() });
const planSchema: z.ZodType<Plan> = z.object({
  asked: string,
  nowMs: number,
  toMs: number,
  accounts: z.array(z.array(application)),
});

/** Gauges by name. */
export type Gauges = ReadonlyMap<string, Gauge>;

/** Files that are merged in one go: each has a buffer. */
const mostOpen = 50;
const planName = 'plan.json';

/** The slices of a run, each in a file, in the directory beside its output. */
export class Parts {
  readonly #directory: string;
  readonly #write: (path: string, pieces: Pieces) => Promise<void>;
  #known: ReadonlySet<string> = new Set();
  /** Whether there is a plan: then what was fetched is kept. */
  isBegun = false;

  /** @param signal ends what is written: no file is whole then */
  constructor(output: string, signal: AbortSignal, write: typeof writeWhole) {
    this.#directory = `${output}.parts`;
    this.#write = async (path, pieces) => write(path, pieces, signal);
  }

  /** The plan of the run that the directory is of, as `setPlan` wrote it; `undefined` if there is none. */
  async plan(): Promise<Plan | undefined> {
    this.#known = new Set(await readdir(this.#directory).catch(() => []));
    if (!this.#known.has(planName)) return undefined;
    this.isBegun = true;
    return planSchema.parse(JSON.parse(await readFile(this.#path(planName), 'utf8')));
  }

  async setPlan(plan: Plan): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const text = JSON.stringify(planSchema.parse(plan), undefined, 2);
    await this.#write(this.#path(planName), [`${text}\n`]);
    this.isBegun = true;
  }

  has(slice: string): boolean {
    return this.#known.has(slice);
  }

  /** Keeps a slice under its name: a line for each series, with its samples. Those of a gauge come together. */
  async save(name: string, pages: readonly Page[]): Promise<void> {
    const samples = new Map<string, string[]>();
    for (const { timeMs, lines } of pages) {
      for (const line of lines()) {
        const space = line.lastIndexOf(' ');
        const series = line.slice(0, space);
        const known = samples.get(series) ?? [];
        known.push(`${line.slice(space + 1)} ${timeMs / 1000}`);
        samples.set(series, known);
      }
    }
    const sorted = [...samples].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const rows = sorted.map(([series, values]) => `${series}\t${values.join('\t')}\n`);
    await this.#write(this.#path(name), rows);
  }

  /** Writes the output; returns how many samples it has. */
  async join(output: string, gauges: Gauges): Promise<number> {
    const names = (await readdir(this.#directory)).filter((name) => name.endsWith('.part'));
    let files = names.toSorted().map((name) => this.#path(name));
    for (let round = 1; files.length > mostOpen; round += 1) {
      const merges = inGroups(files, mostOpen).map((group, index) => ({
        group,
        path: this.#path(`merged-${round}-${index}`),
      }));
      for (const { path, group } of merges) await this.#write(path, merged(group));
      files = merges.map(({ path }) => path);
    }
    const counts = { samples: 0 };
    await this.#write(output, exposition(merged(files), gauges, counts));
    return counts.samples;
  }

  /** Removes everything but the plan. */
  async clear(): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      if (name !== planName) await rm(this.#path(name));
    }
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

/** Of each file that is merged: what is read ahead lives long enough to be taken for old by the garbage collector. */
const highWaterMark = 8 * 1024;

/** The lines of a file. `node:readline` would read far ahead of whoever takes them. */
async function* linesOf(path: string): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}

/** The lines of sorted files in one order; those of the same series are one line, in the order of the files. */
async function* merged(paths: readonly string[]): AsyncGenerator<string> {
  const readers = paths.map(linesOf);
  const heads: (string | undefined)[] = [];
  const advance = async (index: number): Promise<void> => {
    heads[index] = (await readers[index]?.next())?.value;
  };
  for (const index of readers.keys()) await advance(index);
  for (;;) {
    const series = heads.map((line) => line?.split('\t', 1)[0]);
    const [first] = series.filter((one) => one !== undefined).toSorted();
    if (first === undefined) return;
    const same = [...series.keys()].filter((index) => series[index] === first);
    yield `${first}${same.map((index) => heads[index]?.slice(first.length)).join('')}\n`;
    for (const index of same) await advance(index);
  }
}

async function* exposition(
  lines: AsyncIterable<string>,
  gauges: Gauges,
  counts: { samples: number },
): AsyncGenerator<string> {
  let last: Gauge | undefined;
  for await (const line of lines) {
    const [series = '', ...samples] = line.slice(0, -1).split('\t');
    const gauge = gauges.get(series.slice(0, series.indexOf('{')));
    if (gauge !== undefined && gauge !== last) yield renderHeader(gauge.name, gauge.help);
    last = gauge;
    // As in a poll, an amount of nothing is 0 for what has had some before.
    const begin = gauge?.isAmount === true ? samples.findIndex((one) => !one.startsWith('0 ')) : 0;
    const shown = begin === -1 ? [] : samples.slice(begin);
    counts.samples += shown.length;
    yield shown.map((sample) => `${series} ${sample}\n`).join('');
  }
  yield '# EOF\n';
}
