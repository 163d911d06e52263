/**
 * The status page, rendered from what is known of 200, 2000 and 10,000 applications: CPU time, bytes on
 * the wire, and with chromium in PATH the time to its first paint.
 */
import { cpuUsage } from 'node:process';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import type { StatusSource } from '../src/model/status.ts';
import { statusPage } from '../src/status/status-page.ts';
import { startStatusServer } from '../test/support/status-server.ts';
import { aStatusSource, manyApplications } from '../test/support/status-source.ts';
import { toolOrSkip } from '../test/support/tools.ts';
import { show, spreadOf } from './median.ts';

const rounds = 15;
const context = {
  telemetryPath: '/metrics',
  shardAddress: '',
  host: 'a:9126',
  hasTls: false,
  hasAuth: false,
};

function renderMs(source: StatusSource): number {
  const before = cpuUsage();
  statusPage(source, new URLSearchParams(), context);
  const { user, system } = cpuUsage(before);
  return (user + system) / 1000;
}

async function size(count: number): Promise<void> {
  const source = aStatusSource({ applications: manyApplications(count) });
  // The first rounds are slower: nothing is compiled yet.
  const times = Array.from({ length: 2 * rounds }, () => renderMs(source)).slice(rounds);
  const page = Buffer.from(statusPage(source, new URLSearchParams(), context));
  const packed = await promisify(gzip)(page);
  process.stdout.write(
    `  ${count} applications: ${show(spreadOf(times))} ms of CPU, ` +
      `${(page.length / 1000).toFixed(0)} kB, compressed ${(packed.length / 1000).toFixed(1)} kB\n`,
  );
}

const firstPaint = `new Promise((resolve) =>
  new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime))
    .observe({ type: 'paint', buffered: true }))`;

interface Paint {
  readonly paintMs: number;
  /** Of the thread that parses, lays out and paints. */
  readonly cpuMs: number;
}

async function firstPaintOf(browser: Browser, url: string): Promise<Paint> {
  const page = await browser.newPage();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(url);
  const paintMs = await page.evaluate<number>(firstPaint);
  const { metrics } = await session.send('Performance.getMetrics');
  await page.close();
  const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  return { paintMs, cpuMs: 1000 * seconds };
}

function textOf(paints: readonly Paint[]): string {
  const paint = show(spreadOf(paints.map(({ paintMs }) => paintMs)), 0);
  const cpu = show(spreadOf(paints.map(({ cpuMs }) => cpuMs)), 0);
  return `${paint} ms, with ${cpu} ms of CPU`;
}

/** Alternates with a page of one word, which shows how busy the machine is. */
async function firstPaints(executablePath: string): Promise<void> {
  const browser = await chromium.launch({ executablePath });
  for (const count of [200, 2000]) {
    const source = aStatusSource({ applications: manyApplications(count) });
    const server = await startStatusServer(source);
    const ours: Paint[] = [];
    const words: Paint[] = [];
    for (let round = 0; round < rounds; round += 1) {
      words.push(await firstPaintOf(browser, `${server.url}/-/healthy`));
      ours.push(await firstPaintOf(browser, server.url));
    }
    await server.close();
    process.stdout.write(
      `  ${count} applications: first paint after ${textOf(ours)}; goal for 200: <= 200 ms\n` +
        `    of a single word: ${textOf(words)}\n`,
    );
  }
  await browser.close();
}

process.stdout.write(`status-page: ${rounds} rounds, median (min to max)\n`);
for (const count of [200, 2000, 10_000]) await size(count);
const { skip, path } = toolOrSkip('chromium');
if (skip) process.stdout.write('  no first paint: chromium is not in PATH\n');
else await firstPaints(path);
