import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Tool, toolOrSkip } from './tools.ts';

/** A program in `PATH`, or where `.ci/tools` puts what it builds. */
export function goToolOrSkip(name: string): Tool {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const path = `${process.env['PATH'] ?? ''}:${join(cache, 'newrelic-exporter-ci/bin')}`;
  return toolOrSkip(name, { ...process.env, PATH: path }, `.ci/tools ${name}`);
}
