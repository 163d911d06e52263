import { spawnSync } from 'node:child_process';
import { type Tool, toolOrSkip } from '../support/tools.ts';

export const promtool: Tool = toolOrSkip('promtool');

/** What `promtool check metrics` complains about: empty if all is well. */
export function complaintsOfPromtool(text: string): string {
  const result = spawnSync(promtool.path, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  return `${result.stdout}${result.stderr}`.trim();
}
