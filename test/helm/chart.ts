import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { goToolOrSkip } from '../support/go-tool.ts';
import type { Tool } from '../support/tools.ts';
import type { Manifest } from './manifests.ts';

export const chart: string = fileURLToPath(
  new URL('../../helm/newrelic-exporter', import.meta.url),
);
export const helm3: Tool = goToolOrSkip('helm3');
export const helm4: Tool = goToolOrSkip('helm4');

/** The sets of values that the chart is tried with. */
export const valuesFiles: readonly string[] = readdirSync(join(chart, 'ci'))
  .filter((name) => name.endsWith('-values.yaml'))
  .toSorted();

export interface RenderOptions {
  readonly helm?: string;
  readonly path?: string;
  readonly values?: readonly string[];
  readonly set?: readonly string[];
  readonly kubeVersion?: string;
}

const run = promisify(execFile);
const rendered = new Map<string, Promise<string>>();

/** What helm makes of the chart; the same question is answered once. */
export async function renderText(options: RenderOptions): Promise<string> {
  const {
    helm = helm3.path,
    path = chart,
    values = [],
    set = [],
    kubeVersion = '1.34.0',
  } = options;
  const args = [
    'template',
    'release',
    path,
    '--namespace=monitoring',
    `--kube-version=${kubeVersion}`,
    ...values.map((file) => `--values=${join(chart, 'ci', file)}`),
    ...set.map((one) => `--set=${one}`),
  ];
  const key = [helm, ...args].join(' ');
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const text = run(helm, args, { maxBuffer: 64 * 1024 * 1024 }).then(({ stdout }) => stdout);
  rendered.set(key, text);
  return text;
}

/** As Kubernetes reads it, by the rules of YAML 1.1: `0444` is octal. */
export function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { version: '1.1' })
    .map((document): unknown => document.toJS())
    .filter((value): value is Manifest => value !== null && value !== undefined);
}

export async function render(options: RenderOptions): Promise<readonly Manifest[]> {
  return manifestsIn(await renderText(options));
}

/** The sentence that helm refuses the values with. */
export async function refusal(set: readonly string[], kubeVersion = '1.34.0'): Promise<string> {
  try {
    await renderText({ values: ['01-default-values.yaml'], set, kubeVersion });
    return '';
  } catch (error) {
    return error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  }
}
