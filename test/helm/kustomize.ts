import { execFileSync } from 'node:child_process';
import { type Tool, toolOrSkip } from '../support/tools.ts';

export const kubectl: Tool = toolOrSkip('kubectl');

/** What `kubectl apply -k` would send of a folder. */
export function kustomized(folder: string): string {
  return execFileSync(kubectl.path, ['kustomize', folder], { encoding: 'utf8', stdio: 'pipe' });
}
