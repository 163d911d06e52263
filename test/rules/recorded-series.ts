import { parseConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { type Answering, type Fault, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';
import { metricNamesIn } from './promql-names.ts';
import type { PromtoolTest } from './promtool-test.ts';
import { alertsOf, readRuleFiles, recordingsOf } from './rule-files.ts';

type Series = PromtoolTest['input_series'][number];

/** What is wrong with an exporter for a while. */
export interface Trouble {
  /** What New Relic answers meanwhile; `undefined` for what it does otherwise. */
  readonly answer?: (bench: RunningDaemon) => Answering;
  /** The included files that are broken meanwhile; none of them: the file itself. */
  readonly brokenFiles?: readonly string[];
  /** Whether Prometheus cannot scrape it meanwhile. */
  readonly isGone?: boolean;
  /** What the trouble ends with: another file. */
  readonly mended?: string;
}

export interface Exporter {
  readonly instance: string;
  /** The text of a file; the key is in `KEY_A`. */
  readonly config: string;
  /** Those of the account, with ids from `firstId` on. */
  readonly applications: number;
  readonly firstId: number;
  readonly trouble?: Trouble;
}

/** In which minutes what happens. An exporter starts in the first one. */
export interface Times {
  readonly begin: number;
  readonly end: number;
  readonly last: number;
  readonly scrapeMs: number;
}

const rules = readRuleFiles();
/** The series that the shipped rules read. */
const namesInRules: ReadonlySet<string> = new Set(
  [...alertsOf(rules), ...recordingsOf(rules)].flatMap(({ expr }) => metricNamesIn(expr)),
);
const line = /^(\w+)(?:\{(.*)\})? (\S+)$/u;

/** What scrapes of one exporter find, in the time of promtool, which begins with 0. */
export class Scrapes {
  readonly #series = new Map<string, string[]>();
  readonly #target: string;
  readonly #startedMs: number;
  readonly #names: ReadonlySet<string>;

  /**
   * @param target labels as PromQL writes them
   * @param names of the series that are kept
   */
  constructor(target: string, startedMs: number, names: ReadonlySet<string> = namesInRules) {
    this.#target = target;
    this.#startedMs = startedMs;
    this.#names = names;
  }

  /** @param text of the page; `undefined` if the scrape fails */
  add(scrape: number, text: string | undefined): void {
    this.#set(scrape, 'up', '', text === undefined ? 0 : 1);
    for (const one of (text ?? '').split('\n')) {
      const [, name = '', labels = '', value = ''] = line.exec(one) ?? [];
      if (!this.#names.has(name)) continue;
      const isTime = name.endsWith('_timestamp_seconds') && value !== '0';
      this.#set(scrape, name, labels, Number(value) - (isTime ? this.#startedMs / 1000 : 0));
    }
  }

  #set(scrape: number, name: string, labels: string, value: number): void {
    const series = `${name}{${[this.#target, labels].filter((part) => part !== '').join()}}`;
    const values = this.#series.get(series) ?? [];
    while (values.length < scrape) values.push('_');
    values[scrape] = String(value);
    this.#series.set(series, values);
  }

  written(scrapes: number): readonly Series[] {
    return [...this.#series].map(([series, values]) => {
      return { series, values: written(values, scrapes) };
    });
  }
}

/** As promtool reads values. A series ends with the first scrape that lacks it. */
function written(values: readonly string[], scrapes: number): string {
  const runs: { readonly value: string; count: number }[] = [];
  for (let at = 0; at < scrapes; at += 1) {
    const value = values[at] ?? '_';
    const last = runs.at(-1);
    const hasEnded = value === '_' && last !== undefined && !['_', 'stale'].includes(last.value);
    if (last?.value === value) last.count += 1;
    else runs.push({ value: hasEnded ? 'stale' : value, count: 1 });
  }
  return runs
    .map(({ value, count }) => {
      if (count === 1) return value;
      return value === '_' ? `_x${count}` : `${value}x${count - 1}`;
    })
    .join(' ');
}

async function configOf(text: string): Promise<Config> {
  return (await parseConfig(text, { fileName: 'c.yaml', directory: '/' })).config;
}

function fleetOf({ firstId, applications }: Exporter): FleetOptions {
  const all = Array.from({ length: applications }, (_, at) => {
    const id = firstId + at;
    return { id, name: `app-${id}`, kind: 'web' as const, hosts: 2, healthStatus: 'green' };
  });
  return { traffic: 'flat', applications: all };
}

/** What Prometheus gets of the real daemon on simulated time. */
export async function recordedSeries(exporter: Exporter, times: Times): Promise<readonly Series[]> {
  const { trouble = {} } = exporter;
  const fault: Fault = { answer: () => undefined };
  const scrapesOf = (minute: number): number => (minute * minuteMs) / times.scrapeMs;
  const [begin, end] = [scrapesOf(times.begin), scrapesOf(times.end)];
  const bench: RunningDaemon = await aRunningDaemon(await configOf(exporter.config), {
    fleet: fleetOf(exporter),
    latencyMs: 300,
    ...faulty({ answer: (request) => fault.answer(request) }),
  });
  const { daemon, platform } = bench;
  const reloaded = (isGood: boolean, broken: readonly string[]): void =>
    daemon.metrics.configReloaded(isGood, platform.clock.wallMs(), broken);
  const target = `job="newrelic-exporter",instance="${exporter.instance}"`;
  const scrapes = new Scrapes(target, platform.clock.wallMs());
  for (let scrape = 0; scrape <= scrapesOf(times.last); scrape += 1) {
    if (scrape === begin) {
      if (trouble.answer) fault.answer = trouble.answer(bench);
      if (trouble.brokenFiles) reloaded(false, trouble.brokenFiles);
    }
    if (scrape === end) {
      fault.answer = () => undefined;
      if (trouble.brokenFiles) reloaded(true, []);
      if (trouble.mended !== undefined) await daemon.apply(await configOf(trouble.mended));
    }
    const isGone = trouble.isGone === true && scrape >= begin && scrape < end;
    const page = isGone ? undefined : `${await bench.page()}${await daemon.metrics.text()}`;
    scrapes.add(scrape, page);
    await platform.clock.advance(times.scrapeMs);
  }
  return scrapes.written(scrapesOf(times.last) + 1);
}
