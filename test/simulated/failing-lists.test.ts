import { describe, expect } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { answered, type Fault, faulty, linesOf } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { eachAfter } from '../support/slow.ts';

const nerdgraph = 'source: nerdgraph, account_id: 1234567,';
const applications = Array.from({ length: 12 }, (_, at) => {
  return { id: 101 + at, name: `app-${at}`, kind: 'both' as const, hosts: 4 };
});

describe('4.3 a list that is answered with 500 three times', () => {
  eachAfter(1, [
    { what: 'REST', api: '', quota: Infinity },
    { what: 'REST, 20 calls a minute left', api: '', quota: 20 },
    { what: 'REST, 3 calls a minute left', api: '', quota: 3 },
    { what: 'NerdGraph', api: nerdgraph, quota: Infinity },
    { what: 'NerdGraph, 1 call a minute left', api: nerdgraph, quota: 1 },
  ])('makes newrelic_up 0 within two intervals, whatever waits: $what', async (scene) => {
    const text = `
accounts: [{ name: one, api_key_env: KEY_A, ${scene.api} }]
apps: [{ match: . }]`;
    const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
    let [minute, left, failures] = [0, scene.quota, 0];
    let firstMs = Infinity;
    let nowMs = (): number => 0;
    const answer: Fault['answer'] = ({ operation }) => {
      const now = Math.floor(nowMs() / minuteMs);
      if (now > minute) [minute, left] = [now, scene.quota];
      left -= 1;
      if (left < 0) {
        const seconds = Math.ceil(((now + 1) * minuteMs - nowMs()) / 1000);
        return answered({}, 429, { 'retry-after': `${seconds}` });
      }
      if (operation !== 'list_applications' || failures === 0) return undefined;
      failures -= 1;
      firstMs = Math.min(firstMs, nowMs());
      return answered({}, 500);
    };
    const bench = await aRunningDaemon(config, { fleet: { applications }, ...faulty({ answer }) });
    const { clock } = bench.platform;
    nowMs = () => clock.monotonicMs();
    await clock.advance(10 * minuteMs);
    failures = 3;
    let [downMs, upMs] = [Infinity, Infinity];
    while (clock.monotonicMs() < 20 * minuteMs) {
      await clock.advance(1000);
      const isUp = (await linesOf(bench, /^newrelic_up/u))[0]?.endsWith(' 1') ?? false;
      if (!isUp) downMs = Math.min(downMs, nowMs());
      else if (downMs < nowMs()) upMs = Math.min(upMs, nowMs());
    }

    expect(failures).toBe(0);
    expect(downMs - firstMs).toBeLessThanOrEqual(2 * minuteMs);
    expect(upMs - downMs).toBeLessThanOrEqual(3 * minuteMs);
    const messages = bench.logger.lines.map(({ message }) => message);
    const lists = messages.filter((message) => message.startsWith('discovery'));
    expect(lists).toEqual(['discovery failed', 'discovery works again']);
  });
});
