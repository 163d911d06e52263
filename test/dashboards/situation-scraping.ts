import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRuleFiles } from '../rules/rule-files.ts';

export interface SituationTarget {
  readonly cluster: string;
  readonly job: string;
  /** The label, which does not say where it really listens. */
  readonly instance: string;
  readonly target: string;
}

/** Scrapes exporters each second, and evaluates the rules of the folder `rules` as often. */
export function scrapeConfig(targets: readonly SituationTarget[]): string {
  const jobs = [...new Set(targets.map(({ job }) => job))];
  const lists = jobs.map((job) => ({
    job_name: job,
    static_configs: targets
      .filter((target) => target.job === job)
      .map(({ cluster, instance, target }) => ({
        targets: [target],
        labels: { cluster, namespace: 'monitoring', instance },
      })),
  }));
  // JSON is YAML.
  return JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules/*.yaml'],
    scrape_configs: lists,
  });
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** Five minutes become one second. */
const haste = 300;

/** The rules as they are shipped, but that alerts wait three hundred times shorter until they fire. */
export async function writeHastyRules(folder: string): Promise<void> {
  for (const { name, path } of readRuleFiles()) {
    const text = await readFile(path, 'utf8');
    const hasty = text.replaceAll(
      /^( +for: )(\d+)([smh])$/gmu,
      (_, start: string, count: string, unit: string) =>
        `${start}${Math.ceil((Number(count) * (secondsOf[unit] ?? 1)) / haste)}s`,
    );
    await writeFile(join(folder, `${name}.yaml`), hasty);
  }
}
