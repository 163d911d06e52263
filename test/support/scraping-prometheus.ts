import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { freePort, get, until } from './daemon-process.ts';

/** A sample that a query found. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

interface QueryAnswer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
}

interface MetadataAnswer {
  readonly data: readonly { readonly metric: string; readonly type: string }[];
}

/** A real Prometheus that scrapes every second. */
export interface ScrapingPrometheus {
  readonly child: ChildProcess;
  readonly log: () => string;
  readonly query: (expression: string) => Promise<readonly Sample[]>;
  /** The types of the families that it has read from its targets, by name. */
  familyTypes(): Promise<Readonly<Record<string, string>>>;
  stop(): Promise<void>;
}

/** Starts one with its files in `directory`; resolves when every job is up. */
export async function startScraping(
  program: string,
  directory: string,
  targets: Readonly<Record<string, string>>,
): Promise<ScrapingPrometheus> {
  const port = await freePort();
  const jobs = Object.entries(targets).map(
    ([job, url]) =>
      `- job_name: ${job}\n  scrape_interval: 1s\n  static_configs: [{ targets: ["${new URL(url).host}"] }]\n`,
  );
  await writeFile(`${directory}/prometheus.yml`, `scrape_configs:\n${jobs.join('')}`);
  const child = spawn(
    program,
    [
      `--config.file=${directory}/prometheus.yml`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (part: Buffer) => {
    log += part.toString();
  });
  const api = async <Answer>(path: string): Promise<Answer> =>
    JSON.parse((await get(`http://127.0.0.1:${port}/api/v1/${path}`)).text) as Answer;
  const query = async (expression: string): Promise<readonly Sample[]> => {
    const { data } = await api<QueryAnswer>(`query?query=${encodeURIComponent(expression)}`);
    return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  };
  await until(async () => {
    try {
      const up = await query('up == 1');
      return up.length === jobs.length ? true : undefined;
    } catch {
      return undefined;
    }
  });
  return {
    child,
    log: () => log,
    query,
    familyTypes: async () => {
      const { data } = await api<MetadataAnswer>('targets/metadata');
      return Object.fromEntries(data.map(({ metric, type }) => [metric, type]));
    },
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}
