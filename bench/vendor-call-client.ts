/**
 * One round of the bench `vendor-call`: sends calls at saturation and prints what they cost this
 * process. Arguments: `ours` or `global-fetch`, the origin, the number of calls.
 */

import { readFile } from 'node:fs/promises';
import { getHeapStatistics } from 'node:v8';
import { createSystemClock } from '../src/daemon/node-platform.ts';
import { transactionTypes } from '../src/model/application.ts';
import { seriesOf } from '../src/model/polled-series.ts';
import type { Logger } from '../src/model/telemetry.ts';
import { createCallScheduler } from '../src/rate-limit/call-scheduler.ts';
import { createRateLimiters } from '../src/rate-limit/membership.ts';
import { createRestClient } from '../src/rest/rest-client.ts';
import { createSelfMetrics } from '../src/telemetry/self-metrics.ts';
import { createAccountTransport } from '../src/transport/account-transport.ts';
import { createAnswerMemory } from '../src/transport/answer-memory.ts';
import { createUndiciTransport } from '../src/transport/undici-transport.ts';

const concurrency = 8;
const toMs = Date.UTC(2026, 8, 1, 10, 0);
const query = {
  window: { fromMs: toMs - 300_000, toMs },
  series: seriesOf(['throughput'], transactionTypes),
  raw: false,
} as const;

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The whole path of a real call: pace, limit, retry, measure, parse. */
async function ours(origin: string): Promise<() => Promise<unknown>> {
  const clock = createSystemClock();
  const metrics = createSelfMetrics(
    { version: 'bench', revision: 'bench', nodeVersion: process.version },
    { status: () => [], seriesOf: () => 0, droppedSeriesOf: () => 0, loopLagSeconds: () => 0 },
  );
  const observer = metrics.apiObserver('bench');
  const caFile = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
  // Far above what a machine can send: the bench measures cost, not patience.
  const requestsPerMinute = 10_000_000;
  const membership = createRateLimiters({ clock, logger: silent }).join(
    {
      name: 'bench',
      baseUrl: origin,
      source: { kind: 'rest', accountId: undefined },
      requestsPerMinute,
    },
    'NRAK-BENCH',
  );
  const limits = { requestsPerMinute, concurrency };
  const transport = createAccountTransport(
    { baseUrl: origin, apiKeyHeader: 'Api-Key', timeoutMs: 30_000 },
    {
      clock,
      random: () => 0.5,
      membership,
      first: createCallScheduler(limits, { clock, limit: membership }).first,
      events: { throttled: () => {}, clockSkewed: () => {} },
      observer,
      keyProvider: { current: () => 'NRAK-BENCH', reload: async () => false },
      raw: createUndiciTransport(
        {
          baseUrl: origin,
          connections: concurrency,
          proxyUrl: undefined,
          ca: await readFile(caFile, 'utf8'),
          userAgent: 'bench',
        },
        { memory: createAnswerMemory({ heapBytes: getHeapStatistics().heap_size_limit }) },
      ),
    },
  );
  const client = createRestClient(
    { maxPages: 1 },
    { send: transport.send, observer, logger: silent, clock },
  );
  const { signal } = new AbortController();
  return async () => client.metrics('204261410', '204260579', query, { signal });
}

/** What the peer does: global fetch and JSON.parse, and nothing else. */
function globalFetch(origin: string): () => Promise<unknown> {
  const url =
    `${origin}/v2/applications/204261410/hosts/204260579/metrics/data.json` +
    '?names[]=HttpDispatcher&names[]=OtherTransaction/all&values[]=requests_per_minute&summarize=true' +
    '&from=2026-09-01T09:55:00Z&to=2026-09-01T10:00:00Z';
  const headers = { 'Api-Key': 'NRAK-BENCH', accept: 'application/json' };
  return async () => JSON.parse(await (await fetch(url, { headers })).text());
}

async function repeat(call: () => Promise<unknown>, times: number): Promise<void> {
  let left = times;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

const [who = '', origin = '', calls = '0'] = process.argv.slice(2);
const times = Number(calls);
const call = who === 'ours' ? await ours(origin) : globalFetch(origin);
await repeat(call, Math.ceil(times / 4));
const cpuBefore = process.cpuUsage();
const startMs = performance.now();
await repeat(call, times);
const elapsedMs = performance.now() - startMs;
const { user, system } = process.cpuUsage(cpuBefore);
process.stdout.write(
  JSON.stringify({
    cpuUsPerCall: (user + system) / times,
    callsPerSecond: (1000 * times) / elapsedMs,
  }),
);
process.exit(0);
