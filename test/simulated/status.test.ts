import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { anEntry } from '../support/builders.ts';
import { statusSourceOf } from '../support/query-daemon.ts';
import {
  accountOne,
  aRunningDaemon,
  entryByName,
  type RunningDaemon,
} from '../support/running-daemon.ts';

/** Of `/api/v1/targets`, by the name of the application. */
function targetsOf(bench: RunningDaemon): ReadonlyMap<string, unknown> {
  const query = { state: 'any', scrapePool: undefined, applicationId: undefined } as const;
  const { data } = JSON.parse([...targetsJson(statusSourceOf(bench), query)].join('')) as {
    readonly data: { readonly activeTargets: readonly { readonly labels: { app_name: string } }[] };
  };
  return new Map(data.activeTargets.map((target) => [target.labels.app_name, target]));
}

const refused = (status: number) => () => ({ status, headers: {}, body: '' });

describe('an application whose polls fail until its values are dropped', () => {
  it('is down in the targets before and after, and its neighbour is up', async () => {
    const entry = anEntry({ account: 'one', hosts: false, poll: { staleAfterMs: 4 * minuteMs } });
    const bench = await aRunningDaemon(
      { accounts: [accountOne()], apps: [entry] },
      {
        intercept: ({ applicationId, monotonicMs }) =>
          applicationId === '101' && monotonicMs > 2 * minuteMs ? refused(500) : 'pass',
      },
    );
    await bench.platform.clock.advance(4 * minuteMs);
    const failing = targetsOf(bench);
    await bench.platform.clock.advance(6 * minuteMs);
    const dropped = targetsOf(bench);

    const server = { health: 'down', reason: 'server' };
    expect(failing.get('shop')).toMatchObject({ ...server, state: 'failing', isHeld: true });
    expect(dropped.get('shop')).toMatchObject({ ...server, state: 'dropped', values: [] });
    expect(dropped.get('cart')).toMatchObject({ health: 'up', state: 'up', lastError: '' });
  });
});

describe('the status page', () => {
  it('calls the exporter degraded while one of two accounts is down, and down while both are', async () => {
    let refusedKeys: readonly number[] = [];
    const bench = await aRunningDaemon(
      {
        accounts: [
          accountOne(),
          accountOne({ name: 'two', apiKey: { kind: 'env', name: 'KEY_B' } }),
        ],
        apps: [entryByName('shop'), entryByName('cart', 'two')],
      },
      {
        intercept: ({ keyIndex = -1 }) => (refusedKeys.includes(keyIndex) ? refused(401) : 'pass'),
      },
    );
    const titles: unknown[] = [];
    for (const keys of [[], [1], [0, 1]]) {
      refusedKeys = keys;
      await bench.platform.clock.advance(3 * minuteMs);
      const context = { telemetryPath: '/metrics' };
      const page = statusPage(statusSourceOf(bench), new URLSearchParams(), context);
      titles.push(/<title>(\w+: \w+ \w+ \w+)/u.exec(page)?.[1]);
    }

    expect(titles).toEqual(['up: 2 applications in', 'degraded: 1 API key', 'down: 2 API keys']);
  });
});
