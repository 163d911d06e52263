import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { until } from '../support/daemon-process.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { type ServingExporter, startExporter } from './serving-exporter.ts';
import { scrapeConfig, writeHastyRules } from './situation-scraping.ts';
import { apiKey, type SituationVendor, startVendor } from './situation-vendor.ts';
import { type Situation, type SituationExporter, situations } from './situations.ts';

type Labels = Readonly<Record<string, string>>;
type Point = readonly [seconds: number, value: string];

/** The `data` of an answer of Prometheus' own API. */
export interface VectorResult {
  readonly resultType: 'vector';
  readonly result: readonly { readonly metric: Labels; readonly value: Point }[];
}

/** The `data` of an answer of Prometheus' own API. */
export interface MatrixResult {
  readonly resultType: 'matrix';
  readonly result: readonly { readonly metric: Labels; readonly values: readonly Point[] }[];
}

export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

export interface RaisedAlert {
  readonly alertname: string;
  readonly state: 'pending' | 'firing';
  readonly labels: Labels;
}

/** All situations in one Prometheus, told apart by the label `cluster`, as they were at `nowMs`. */
export interface SituationsPrometheus {
  /** The moment at which every situation shows what it is about, on a whole second. */
  readonly nowMs: number;
  /** Rejects with what Prometheus says about the expression. */
  query(expression: string, atMs?: number): Promise<VectorResult>;
  queryRange(expression: string, range: TimeRange): Promise<MatrixResult>;
  /** The values of a label among the series of a selector, as of the last hour. */
  labelValues(label: string, selector: string): Promise<readonly string[]>;
  series(selector: string): Promise<readonly Labels[]>;
  alertsOf(situation: Situation): Promise<readonly RaisedAlert[]>;
  stop(): Promise<void>;
}

interface StartedExporter extends SituationExporter {
  readonly cluster: string;
  readonly serving: ServingExporter;
}

interface Stage {
  readonly folder: string;
  readonly vendors: readonly SituationVendor[];
  readonly exporters: readonly StartedExporter[];
}

/** What has been started, to be ended in reverse order, whatever happens. */
type Endings = (() => Promise<unknown>)[];

function configOf(
  { entries, settings, staleAfter }: Situation,
  vendors: readonly SituationVendor[],
): string {
  const accounts = vendors.map(
    ({ account, baseUrl }) =>
      `  - { name: ${account.name}, base_url: "${baseUrl}", api_key_env: KEY, requests_per_minute: 60000 }`,
  );
  const all = vendors.map(
    ({ account }) => `  - { match: ".", account: ${account.name}${settings} }`,
  );
  return [
    'accounts:',
    ...accounts,
    `poll: { interval: 3s, discovery_interval: 3s, stale_after: ${staleAfter} }`,
    'apps:',
    ...entries.map((entry) => `  - ${entry}`),
    ...all,
    '',
  ].join('\n');
}

async function startSituation(
  situation: Situation,
  endings: Endings,
): Promise<Omit<Stage, 'folder'>> {
  const clock = createSystemClock();
  const vendors = await Promise.all(
    situation.accounts.map(async (account) => {
      const vendor = await startVendor(account, { clock });
      endings.push(async () => vendor.stop());
      return vendor;
    }),
  );
  const config = configOf(situation, vendors);
  const exporters = await Promise.all(
    situation.exporters.map(async (exporter) => {
      const serving = await startExporter({
        config,
        args: exporter.args,
        env: { KEY: apiKey },
        ownHostNames: [exporter.hostName],
      });
      endings.push(async () => serving.stop());
      return { ...exporter, cluster: situation.cluster, serving };
    }),
  );
  return { vendors, exporters };
}

async function startStage(folder: string, endings: Endings): Promise<Stage> {
  const started = await Promise.all(
    situations.map(async (situation) => startSituation(situation, endings)),
  );
  return {
    folder,
    vendors: started.flatMap(({ vendors }) => vendors),
    exporters: started.flatMap(({ exporters }) => exporters),
  };
}

interface ApiAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data?: unknown;
}

async function ask(
  prometheus: Prometheus,
  path: string,
  parameters: Readonly<Record<string, string>>,
): Promise<unknown> {
  const query = new URLSearchParams(parameters).toString();
  const { status, error, data } = (await prometheus.get(`/api/v1/${path}?${query}`)) as ApiAnswer;
  if (status === 'success') return data;
  throw new Error(`Prometheus does not answer ${JSON.stringify(parameters)}: ${error}`);
}

async function isTrue(prometheus: Prometheus, expression: string): Promise<true | undefined> {
  const { result } = (await ask(prometheus, 'query', { query: expression })) as VectorResult;
  return result.length > 0 ? true : undefined;
}

/** Every exporter is scraped, and has polled everything. */
function isComplete({ cluster, accounts, exporters, settings }: Situation): string {
  const up = `count(up{cluster="${cluster}"} == 1) == ${exporters.length}`;
  const applications = accounts.flatMap((account) => account.applications).length;
  const polled = settings.includes('application: false')
    ? `count(count by (host_id) (newrelic_application_host_requests_per_minute{cluster="${cluster}"})) == ${exporters.length}`
    : `count(newrelic_application_poll_success{cluster="${cluster}"} == 1) == ${applications}`;
  return `${up} and ${polled}`;
}

/** Prometheus' answers about a moment that is over: nothing that happens later changes them. */
function frozen(prometheus: Prometheus, nowMs: number, endings: Endings): SituationsPrometheus {
  const seconds = (ms: number): string => String(ms / 1000);
  const lastHour = { start: seconds(nowMs - 3_600_000), end: seconds(nowMs) };
  const query = async (expression: string, atMs = nowMs): Promise<VectorResult> => {
    const data = await ask(prometheus, 'query', { query: expression, time: seconds(atMs) });
    return data as VectorResult;
  };
  return {
    nowMs,
    query,
    queryRange: async (expression, { startMs, endMs, stepMs }) =>
      (await ask(prometheus, 'query_range', {
        query: expression,
        start: seconds(startMs),
        end: seconds(endMs),
        step: seconds(stepMs),
      })) as MatrixResult,
    labelValues: async (label, selector) =>
      (await ask(prometheus, `label/${label}/values`, {
        'match[]': selector,
        ...lastHour,
      })) as readonly string[],
    series: async (selector) =>
      (await ask(prometheus, 'series', { 'match[]': selector, ...lastHour })) as readonly Labels[],
    alertsOf: async ({ cluster }) => {
      const { result } = await query(`ALERTS{cluster="${cluster}"}`);
      return result.map(({ metric }) => {
        const { __name__: _name, alertname = '', alertstate, ...labels } = metric;
        return { alertname, state: alertstate === 'firing' ? 'firing' : 'pending', labels };
      });
    },
    stop: async () => {
      for (const end of endings.toReversed()) await end();
    },
  };
}

async function play(stage: Stage, path: string, endings: Endings): Promise<SituationsPrometheus> {
  const { folder } = stage;
  await mkdir(join(folder, 'rules'));
  await writeHastyRules(join(folder, 'rules'));
  const targets = stage.exporters.map(({ serving, ...exporter }) => ({
    ...exporter,
    target: serving.target,
  }));
  await writeFile(join(folder, 'prometheus.yml'), scrapeConfig(targets));
  const prometheus = await startPrometheus(path, folder);
  endings.push(async () => prometheus.stop());
  for (const situation of situations) {
    await until(async () => isTrue(prometheus, isComplete(situation)));
  }
  for (const vendor of stage.vendors) vendor.misbehave();
  for (const { isKilled, serving } of stage.exporters) if (isKilled) await serving.stop();
  const nowMs = Math.floor(createSystemClock().wallMs() / 1000) * 1000;
  return frozen(prometheus, nowMs, endings);
}

/**
 * Plays every situation at once, with real exporters, and returns when each shows what it is about.
 *
 * @param paths where the programs are
 */
export async function startSituations(paths: {
  readonly prometheus: string;
  readonly promtool: string;
}): Promise<SituationsPrometheus> {
  const endings: Endings = [];
  const folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-situations-'));
  endings.push(async () => rm(folder, { recursive: true }));
  try {
    return await play(await startStage(folder, endings), paths.prometheus, endings);
  } catch (error) {
    for (const end of endings.toReversed()) await end();
    throw error;
  }
}
