import { writeFile } from 'node:fs/promises';
import { type Prometheus, startPrometheus } from '../dashboards/prometheus.ts';
import { until } from './daemon-process.ts';

/** A sample that a query found. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

interface MetadataAnswer {
  readonly data: readonly { readonly metric: string; readonly type: string }[];
}

/** A real Prometheus that scrapes every second. */
export interface ScrapingPrometheus extends Pick<Prometheus, 'log' | 'stop'> {
  readonly query: (expression: string) => Promise<readonly Sample[]>;
  /** The types of the families that it has read from its targets, by name. */
  familyTypes(): Promise<Readonly<Record<string, string>>>;
}

/** Starts one with its files in `directory`; resolves when every job is up. */
export async function startScraping(
  program: string,
  directory: string,
  targets: Readonly<Record<string, string>>,
): Promise<ScrapingPrometheus> {
  const jobs = Object.entries(targets).map(
    ([job, url]) =>
      `- job_name: ${job}\n  scrape_interval: 1s\n  static_configs: [{ targets: ["${new URL(url).host}"] }]\n`,
  );
  await writeFile(`${directory}/prometheus.yml`, `scrape_configs:\n${jobs.join('')}`);
  const prometheus = await startPrometheus(program, directory);
  const query = async (expression: string): Promise<readonly Sample[]> => {
    const { series } = await prometheus.query(expression);
    return series.map(({ metric, values: [value = Number.NaN] }) => ({ metric, value }));
  };
  await until(async () => ((await query('up == 1')).length === jobs.length ? true : undefined));
  return {
    log: () => prometheus.log(),
    stop: async () => prometheus.stop(),
    query,
    familyTypes: async () => {
      const { data } = (await prometheus.get('/api/v1/targets/metadata')) as MetadataAnswer;
      return Object.fromEntries(data.map(({ metric, type }) => [metric, type]));
    },
  };
}
