import { mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import type { bareApplication } from '../../model/application.ts';
import { printable } from '../../model/shown-text.ts';
import { type FamilyHead, renderHeader } from '../../publish/render.ts';
import { type OutputFile, type Pieces, removeLeftovers, type writeWhole } from '../write-whole.ts';
import { DirectoryLock } from './directory-lock.ts';
import { ended, isWhole, merged } from './ended-file.ts';
import { inGroups, marks, type Page } from './slices.ts';

/** What a run asks about, as it was found at its beginning. */
export interface Plan {
  /** What it was asked for, in words: another run has another output. */
  readonly asked: string;
  readonly nowMs: number;
  readonly toMs: number;
  /** What the entries of each account select. */
  readonly accounts: readonly (readonly PlannedApplication[])[];
  /** How many rows each query of an account has. */
  readonly rows: readonly (readonly number[])[];
  readonly expected?: Expected | undefined;
  /** How long the output is, once it is about to be there. */
  readonly bytes?: number | undefined;
}

/** What the code does with a plan and with parts: to be counted up when it does otherwise. */
const form = 4;

/** What a run takes and gives, and how long a call has taken, by account. */
export type Expected = Readonly<Record<'calls' | 'samples' | 'bytes', number>> & {
  readonly callMs: Readonly<Record<string, number>>;
};

/** An application as it is asked for, and shown. */
export type PlannedApplication = Parameters<typeof bareApplication>[0];

const [number, string] = [z.number(), z.string()];
const tags = z.record(string, string).optional();
const application = z.object({ id: string, name: string, tags, hostCount: number.optional() });
const callMs = z.record(string, number);
const expected = z.object({ calls: number, samples: number, bytes: number, callMs });
const planSchema: z.ZodType<Plan> = z.object({
  form: z.literal(form),
  asked: string,
  nowMs: number,
  toMs: number,
  accounts: z.array(z.array(application)),
  rows: z.array(z.array(number)),
  expected: expected.optional(),
  bytes: number.optional(),
});

/** What samples are shown with. */
export interface Shown {
  /** By name. */
  readonly gauges: ReadonlyMap<string, FamilyHead>;
  /** Behind their own labels, each with a comma before it. */
  readonly labels: string;
}

/** Files that are merged in one go: each has a buffer. */
const mostOpen = 50;
const planName = 'plan.json';
/** The files of a directory of parts; what else is there is somebody else's. */
const ownFile = /^(?:[\da-f]+\.part|merged-[-\d]+|plan\.json)(?:\.[-\da-f]+\.tmp)?$/u;

/** The slices of a run, each in a file, in the directory beside its output. */
export class Parts {
  readonly directory: string;
  readonly #output: OutputFile;
  readonly #platform: ToolPlatform;
  readonly #write: typeof writeWhole;
  #lock: DirectoryLock | undefined;
  readonly #whole = new Set<string>();
  /** Whether there is a plan: then what was fetched is kept. */
  isBegun = false;

  constructor(output: OutputFile, platform: ToolPlatform, write: typeof writeWhole) {
    this.directory = `${output.path}.parts`;
    this.#output = output;
    this.#platform = platform;
    this.#write = write;
  }

  /** Takes the directory for this run; `release` gives it back. Rejects with a `CommandError` if another run has it. */
  async take(): Promise<void> {
    await mkdir(this.directory).catch(async (error: unknown) => {
      const isThere = (await stat(this.directory).catch(() => undefined))?.isDirectory() === true;
      if (!isThere) throw error;
    });
    this.#lock = await DirectoryLock.take(this.directory, this.#platform);
    await removeLeftovers(this.#output.path);
  }

  /** Without a plan there is nothing to keep. */
  async release(): Promise<void> {
    // One that cannot be given back is free in a minute.
    await this.#lock?.release().catch(() => undefined);
    if (this.#lock !== undefined && !this.isBegun)
      await rmdir(this.directory).catch(() => undefined);
  }

  /** The plan of the run that the directory is of, as `begin` wrote it; `undefined` if there is none. */
  async plan(): Promise<Plan | undefined> {
    const names = await readdir(this.directory).catch((): readonly string[] => []);
    if (!names.includes(planName)) return undefined;
    this.isBegun = true;
    try {
      const plan = planSchema.parse(JSON.parse(await readFile(this.#path(planName), 'utf8')));
      const hasParts = names.some((name) => name.endsWith('.part'));
      // Its file was written, and taken away since: a run like it begins anew.
      const isOver = plan.bytes !== undefined && !hasParts;
      return isOver && (await this.#output.size()) === undefined ? undefined : plan;
    } catch (cause) {
      const what = `${printable(this.#path(planName))} is broken, or of another version`;
      const help = `remove ${printable(this.directory)}, or begin anew with --restart`;
      throw new CommandError(2, `${what}: ${help}`, { cause });
    }
  }

  /** Begins with a plan: what is there of another goes. */
  async begin(plan: Plan): Promise<void> {
    await this.clear(() => true);
    await this.setPlan(plan);
  }

  async setPlan(plan: Plan): Promise<void> {
    const text = JSON.stringify(planSchema.parse({ form, ...plan }), undefined, 2);
    await this.#save(planName, [`${text}\n`]);
    this.isBegun = true;
  }

  /** Looks which of these slices are there and whole, and gives the others. */
  async look<One extends { readonly name: string }>(slices: readonly One[]): Promise<One[]> {
    for (const { name } of slices) {
      this.#whole.delete(name);
      if (await isWhole(this.#path(name))) this.#whole.add(name);
    }
    return slices.filter(({ name }) => !this.has(name));
  }

  /** As `look` has seen it. */
  has(slice: string): boolean {
    return this.#whole.has(slice);
  }

  /** Keeps a slice under its name. */
  async save(name: string, pages: readonly Page[]): Promise<void> {
    await this.#save(name, ended(name, seriesIn(pages)));
  }

  /** Writes the output of these slices, in their order; returns how many samples it has. */
  async join(slices: readonly string[], plan: Plan, shown: Shown): Promise<number> {
    let names = slices;
    for (let round = 1; names.length > mostOpen; round += 1) {
      const groups = inGroups(names, mostOpen);
      names = groups.map((_, index) => `merged-${round}-${index}`);
      for (const [index, name] of names.entries()) {
        const paths = (groups[index] ?? []).map((one) => this.#path(one));
        await this.#save(name, ended(name, merged(paths)));
      }
    }
    const counts = { samples: 0 };
    const lines = exposition(merged(names.map((one) => this.#path(one))), shown, counts);
    await this.#output.write(this.#told(lines, plan), this.#platform.stopSignal);
    return counts.samples;
  }

  /** The pieces of the output. That it is of this run must be known before it is there. */
  async *#told(pieces: AsyncIterable<string>, plan: Plan): AsyncGenerator<string> {
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += Buffer.byteLength(piece);
      yield piece;
    }
    await this.setPlan({ ...plan, bytes });
  }

  /** Removes the files of a run; by default all but the plan. */
  async clear(isToGo: (name: string) => boolean = (name) => name !== planName): Promise<void> {
    for (const name of await readdir(this.directory)) {
      if (ownFile.test(name) && isToGo(name)) await rm(this.#path(name));
    }
  }

  async #save(name: string, pieces: Pieces): Promise<void> {
    await this.#lock?.mustHold();
    await this.#write(this.#path(name), pieces, this.#platform.stopSignal);
  }

  #path(name: string): string {
    return join(this.directory, name);
  }
}

/** A line for each series of a slice, with its samples. Those of a gauge come together. */
export function seriesIn(pages: readonly Page[]): readonly string[] {
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
  return sorted.map(([series, values]) => `${series}\t${values.join('\t')}\n`);
}

/** Those of such lines that are shown, as OpenMetrics; counts them. */
export async function* exposition(
  lines: Pieces,
  { gauges, labels }: Shown,
  counts: { samples: number },
): AsyncGenerator<string> {
  const [maybe, hidden] = [`${marks.ifBefore} `, `${marks.hidden} `];
  let [known, gauge, hadSome] = ['', '', false];
  for await (const line of lines) {
    const [series = '', ...samples] = line.slice(0, -1).split('\t');
    const shown = `${series.slice(0, -1)}${labels}}`;
    const name = series.slice(0, series.indexOf('{'));
    if (name !== gauge) yield renderHeader(name, gauges.get(name)?.help ?? '');
    // As in a poll, an amount of nothing is 0 for what has had some before.
    hadSome &&= series === known;
    [known, gauge] = [series, name];
    let text = '';
    for (const sample of samples) {
      const isMaybe = sample.startsWith(maybe);
      hadSome ||= !isMaybe;
      if (!hadSome || sample.startsWith(hidden)) continue;
      text += `${shown} ${isMaybe ? sample.replace(maybe, '0 ') : sample}\n`;
      counts.samples += 1;
    }
    yield text;
  }
  yield '# EOF\n';
}
