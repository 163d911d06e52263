import { readFileSync } from 'node:fs';
import { readRuleFiles } from '../rules/rule-files.ts';
import { dashboardFiles } from './dashboard-files.ts';
import type { Scrape } from './situation-scene.ts';

/** A sample, but for its time. */
export interface Sample {
  readonly name: string;
  /** The name and all labels, as they stand in an exposition. */
  readonly series: string;
  readonly value: number;
}

/** Whether a dashboard or a rule needs a metric: the others would only take time. */
export function createNeeded(): (name: string) => boolean {
  const paths = [...dashboardFiles, ...readRuleFiles()].map(({ path }) => path);
  const text = paths.map((path) => readFileSync(path, 'utf8')).join('\n');
  const words = new Set(text.match(/[a-z][a-z0-9_:]+/gu));
  return (name) => words.has(name);
}

const sampleLine = /^([a-z_:]+)(?:\{(.*)\})? (\S+)$/u;

/**
 * What Prometheus makes of a scrape: each series with the labels of its target, and its own series
 * about the target.
 */
export function samplesOf(
  { exporter: { job, instance }, page }: Pick<Scrape, 'exporter' | 'page'>,
  cluster: string,
  isNeeded: (name: string) => boolean,
): readonly Sample[] {
  const target = `cluster="${cluster}",namespace="monitoring",job="${job}",instance="${instance}"`;
  const lines = (page ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const samples = lines.flatMap((line) => {
    const [, name = '', labels = '', value = ''] = sampleLine.exec(line) ?? [];
    if (name === '') throw new Error(`not a sample: ${line}`);
    if (!isNeeded(name)) return [];
    const all = labels === '' ? target : `${target},${labels}`;
    return [{ name, series: `${name}{${all}}`, value: Number(value) }];
  });
  const own = {
    up: Number(page !== undefined),
    scrape_duration_seconds: 0.02,
    scrape_samples_scraped: lines.length,
  };
  return [
    ...Object.entries(own).map(([name, value]) => ({ name, series: `${name}{${target}}`, value })),
    ...samples,
  ];
}
