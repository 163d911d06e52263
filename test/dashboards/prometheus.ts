import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { freePort, get, until } from '../support/daemon-process.ts';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

export interface Answer {
  /** Empty where there is none. */
  readonly error: string;
  readonly series: readonly Series[];
}

/** From and to in seconds since the epoch, the step in seconds. */
interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

function inText(numbers: object): Record<string, string> {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]));
}

export interface Prometheus {
  readonly url: string;
  /** At a moment in seconds since the epoch; now if it is left out. */
  query(expression: string, at?: number): Promise<Answer>;
  queryRange(expression: string, range: Range): Promise<Answer>;
  labelValues(label: string, selector: string): Promise<readonly string[]>;
  get(path: string): Promise<unknown>;
  log(): string;
  stop(): Promise<void>;
}

type Point = readonly [time: number, value: string];

interface ApiAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly resultType: string;
    readonly result: Point | readonly ApiSeries[];
  };
}

interface ApiSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Point;
  readonly values?: readonly Point[];
}

function answerOf({ error = '', data }: ApiAnswer): Answer {
  if (data === undefined) return { error: error === '' ? 'no data' : error, series: [] };
  if (data.resultType === 'scalar') {
    const [, value] = data.result as Point;
    return { error, series: [{ metric: {}, values: [Number(value)] }] };
  }
  const series = (data.result as readonly ApiSeries[]).map(({ metric, value, values }) => ({
    metric,
    values: (values ?? (value === undefined ? [] : [value])).map(([, text]) => Number(text)),
  }));
  return { error, series };
}

async function isReady(url: string, child: ChildProcess): Promise<true | undefined> {
  if (child.exitCode !== null) throw new Error('Prometheus ended');
  try {
    return (await get(`${url}/-/ready`)).status === 200 ? true : undefined;
  } catch {
    return undefined;
  }
}

/** Starts Prometheus on a free port, with `prometheus.yml` and `data` of the folder. */
export async function startPrometheus(
  path: string,
  folder: string,
  more: readonly string[] = [],
): Promise<Prometheus> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    path,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      '--storage.tsdb.retention.time=10y',
      `--web.listen-address=127.0.0.1:${port}`,
      ...more,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const closed = once(child, 'close');
  let log = '';
  child.stderr.on('data', (part: Buffer) => {
    log += part.toString();
  });
  await until(async () => isReady(url, child));
  const ask = async (
    path_: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<Answer> =>
    answerOf(
      JSON.parse(
        (await get(`${url}/api/v1/${path_}?${new URLSearchParams(parameters).toString()}`)).text,
      ) as ApiAnswer,
    );
  return {
    url,
    query: async (query, at) =>
      ask('query', at === undefined ? { query } : { query, time: String(at) }),
    queryRange: async (query, range) => ask('query_range', { query, ...inText(range) }),
    labelValues: async (label, selector) => {
      const parameters = new URLSearchParams({ 'match[]': selector }).toString();
      const { text } = await get(`${url}/api/v1/label/${label}/values?${parameters}`);
      return (JSON.parse(text) as { readonly data: readonly string[] }).data;
    },
    get: async (path_) => JSON.parse((await get(`${url}${path_}`)).text) as unknown,
    log: () => log,
    stop: async () => {
      if (child.exitCode === null) child.kill('SIGTERM');
      await closed;
    },
  };
}

/** Writes blocks of data into the folder of a Prometheus that does not run. */
export async function importHistory(
  promtoolPath: string,
  file: string,
  folder: string,
): Promise<void> {
  // Without the limit promtool would read the file once for each two hours of the history.
  const command = ['tsdb', 'create-blocks-from', '--max-block-duration=720h', 'openmetrics'];
  try {
    await promisify(execFile)(promtoolPath, [...command, file, `${folder}/data`]);
  } catch (error) {
    throw new Error('promtool refused the history', { cause: error });
  }
}
