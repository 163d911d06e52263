import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { anError, failedNrql } from '../newrelic/nerdgraph/answers.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

const source = { kind: 'nerdgraph', accountId: 1_234_567 } as const;

describe('5.1 four applications of 200 that spoil their queries, one in each part of them', () => {
  it('are found, and take the values of no other', slow, async () => {
    let bad: readonly string[] = [];
    let isSpoiling = false;
    let calls = 0;
    const applications = Array.from({ length: 200 }, (_, at) => {
      return { id: 101 + at, name: `app-${at}`, kind: 'web', hosts: 1 } as const;
    });
    const config = {
      accounts: [accountOne({ source, requestsPerMinute: 800 })],
      apps: [anEntry({ account: 'one', hosts: false })],
    };
    const { page, platform } = await aRunningDaemon(config, {
      fleet: { applications },
      wire: (wire) => ({
        ...wire,
        send: async (...request) => {
          const [{ operation, body = '' }] = request;
          if (operation !== 'application_metrics') return wire.send(...request);
          calls += 1;
          const ids = /appId IN \(([\d,]+)\)/u.exec(body)?.[1]?.split(',') ?? [];
          if (ids.length === 200) bad = [10, 80, 150, 199].map((at) => ids[at] ?? '');
          const isSpoilt = isSpoiling && ids.some((id) => bad.includes(id));
          return isSpoilt ? failedNrql(anError('INTERNAL_SERVER_ERROR')) : wire.send(...request);
        },
      }),
    });
    await platform.clock.advance(3 * minuteMs);
    isSpoiling = true;
    calls = 0;
    await platform.clock.advance(10 * minuteMs);

    const failures = /^newrelic_application_poll_success\{.*app_id="(\d+)".*\} 0$/gmu;
    const failing = [...(await page()).matchAll(failures)].map(([, id]) => id);
    expect(new Set(failing)).toEqual(new Set(bad));
    expect(failing).toHaveLength(4);
    expect(calls).toBeLessThan(200);
  });
});
