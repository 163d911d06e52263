import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeBlocksIn } from './markdown.ts';

/** What `promtool check rules` or `check config` has against a text; empty if nothing. */
export function promtoolComplaint(
  promtoolPath: string,
  kind: 'rules' | 'config',
  text: string,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'newrelic-exporter-docs-'));
  try {
    const file = join(folder, 'checked.yml');
    writeFileSync(file, text);
    const result = spawnSync(promtoolPath, ['check', kind, file], { encoding: 'utf8' });
    if (result.error !== undefined) throw result.error;
    return result.status === 0 ? '' : `${result.stdout}${result.stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The expressions of all blocks of PromQL. A line that is not indented begins a new one. */
export function expressionsIn(text: string): readonly string[] {
  return codeBlocksIn(text)
    .filter(({ language }) => language === 'promql')
    .flatMap((block) => block.text.trimEnd().split(/\n(?![ )])/));
}

/** Expressions as a rule file. */
export function rulesOf(expressions: readonly string[]): string {
  const rules = expressions.map((expr, index) => ({ record: `documented:${index}`, expr }));
  return JSON.stringify({ groups: [{ name: 'documents', rules }] });
}
