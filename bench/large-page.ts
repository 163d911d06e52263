/**
 * P19: the page of 10,000 applications of one host, of one application of 10,000 hosts, and of 500 of 20, once
 * with `throughput` alone and once with all presets: the longest turn of the event loop while it is rendered and put
 * together, CPU time, bytes and memory. Argument: rounds, of which the median counts, 5 if left out.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { presetNames } from '../src/model/presets.ts';
import type { LargePage } from './large-page-process.ts';

const [, , rounds = '5'] = process.argv;
const goalMs = 20;
const mebibyte = 1024 ** 2;
const scenes = [
  { name: '10000 applications of one host', applications: 10_000, hostsEach: 1 },
  { name: 'one application of 10000 hosts', applications: 1, hostsEach: 10_000 },
  { name: '500 applications of 20 hosts', applications: 500, hostsEach: 20 },
] as const;
const lists = [
  ['throughput', ['throughput']],
  ['all presets', presetNames],
] as const;

async function measured(
  { applications, hostsEach }: (typeof scenes)[number],
  metrics: readonly string[],
): Promise<LargePage> {
  const program = fileURLToPath(new URL('large-page-process.js', import.meta.url));
  const child = fork(program, [`${applications}`, `${hostsEach}`, metrics.join(), rounds], {
    execArgv: ['--expose-gc'],
  });
  const ended = once(child, 'exit');
  const [found] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  await ended;
  if (typeof found !== 'object') throw new Error('the process failed');
  return found as LargePage;
}

process.stdout.write(`large-page: median of ${rounds} rounds\n`);
for (const scene of scenes) {
  process.stdout.write(`\n  ${scene.name}\n`);
  const pages: LargePage[] = [];
  for (const [name, metrics] of lists) {
    const one = await measured(scene, metrics);
    pages.push(one);
    const longest = Math.max(one.renderTurnMs, one.pageTurnMs);
    process.stdout.write(
      `    ${name}: ${one.series} series, ${(one.bytes / 1e6).toFixed(1)} MB, compressed ${(one.compressedBytes / 1e6).toFixed(2)} MB\n` +
        `      CPU ms to render all ${one.renderMs.toFixed(0)}, to put the page together ${one.pageMs.toFixed(0)}; ` +
        `MiB retained ${(one.retainedBytes / mebibyte).toFixed(0)}, resident at most ${(one.peakBytes / mebibyte).toFixed(0)}\n` +
        `      longest turn, ms: rendering ${one.renderTurnMs.toFixed(1)}, page ${one.pageTurnMs.toFixed(1)}, ` +
        `goal <= ${goalMs}: ${longest <= goalMs ? 'reached' : 'MISSED'}\n`,
    );
  }
  const [few, many] = pages;
  if (few === undefined || many === undefined) throw new Error('there are two lists');
  const each = (many.retainedBytes - few.retainedBytes) / (many.series - few.series);
  process.stdout.write(`    a further series: ${each.toFixed(0)} bytes retained\n`);
}
