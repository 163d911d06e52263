import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  get,
  type RunningDaemon,
  startDaemon,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { answerOfRows } from '../support/query-rows.ts';
import { onLinux } from '../support/tools.ts';

const mebibyte = 1024 * 1024;
const queries = 40;
const rows = 1000;
/** The chart's memory limit, without what the parent of `--respawn` takes. */
const limitBytes = (192 - 25) * mebibyte;
/** As Node.js has them in a container of that size; outside one it would let the heap grow. */
const heap = '--max-old-space-size=96 --max-semi-space-size=4';

/** New Relic with rows of such long names. Resolves to its address. */
async function vendorOf(characters: number): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    response.setHeader('content-type', 'application/json');
    response.end(answerOfRows(body, rows, characters));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function withDaemon(
  characters: number,
  use: (daemon: RunningDaemon) => Promise<void>,
): Promise<void> {
  const baseUrl = await vendorOf(characters);
  const entries = Array.from(
    { length: queries },
    (_, index) =>
      `  - { as: rows_${index}, nrql: SELECT count(*) AS n FROM Event${index} FACET name LIMIT ${rows} }`,
  );
  const config = [
    `accounts: [{ name: one, source: nerdgraph, account_id: 1234567, base_url: "${baseUrl}", api_key_env: KEY }]`,
    'queries:',
    ...entries,
  ].join('\n');
  await withFiles({ 'config.yaml': config }, async (directory) => {
    const daemon = await startDaemon([`--config.file=${directory}/config.yaml`], {
      KEY: 'NRAK-MEMORY',
      NODE_OPTIONS: heap,
    });
    try {
      await use(daemon);
    } finally {
      await stopProgram(daemon);
    }
  });
}

/** What a container would be killed for, at its highest so far. */
function anonymousBytes({ child }: RunningDaemon): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/mu.exec(status)?.[1]) * 1024;
}

async function numberOf({ url }: RunningDaemon, line: RegExp): Promise<number> {
  return ((await get(`${url}/metrics`)).text.match(line) ?? []).length;
}

async function pollsOf({ url }: RunningDaemon): Promise<number> {
  const line = /^newrelic_exporter_polls_total\{account="one"\} (\d+)$/mu;
  return Number(line.exec((await get(`${url}/metrics`)).text)?.[1] ?? 0);
}

describe.skipIf(onLinux.skip)(`10 queries in the memory of the chart${onLinux.note}`, () => {
  it('show 40,000 series with texts of 1,200 characters', async () => {
    await withDaemon(1200, async (daemon) => {
      let peak = 0;
      await until(async () => {
        // As often as a Prometheus may ask at most.
        await pause(1000);
        peak = Math.max(peak, anonymousBytes(daemon));
        return (await pollsOf(daemon)) >= 3 * queries ? true : undefined;
      });

      expect(await numberOf(daemon, /^rows_\d+\{/gmu)).toBe(queries * rows);
      expect(await numberOf(daemon, /^newrelic_query_success\{.* 1$/gmu)).toBe(queries);
      expect(peak).toBeLessThan(limitBytes);
      expect(daemon.child.exitCode).toBeNull();
    });
  });

  it('live on with texts of 4,000 characters, and say which answers are too large', async () => {
    await withDaemon(4000, async (daemon) => {
      await until(async () => ((await pollsOf(daemon)) >= 2 * queries ? true : undefined));
      const targets = (await get(`${daemon.url}/api/v1/targets`)).text;

      expect(daemon.child.exitCode).toBeNull();
      expect(anonymousBytes(daemon)).toBeLessThan(limitBytes);
      expect(targets.match(/"reason":"too_large","failingSince"/gu)).toHaveLength(queries);
    });
  });

  it('say what mends a query whose answer is too large', async () => {
    await withDaemon(4000, async (daemon) => {
      await until(async () => ((await pollsOf(daemon)) >= queries ? true : undefined));
      const targets = (await get(`${daemon.url}/api/v1/targets`)).text;

      expect(targets).not.toContain('base_url');
      expect(targets).toMatch(/LIMIT/u);
    });
  });
});
