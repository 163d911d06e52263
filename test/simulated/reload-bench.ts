import { expect } from 'vitest';
import type { Config } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

const applications: readonly ApplicationSpec[] = Array.from({ length: 3000 }, (_, index) => ({
  id: 1000 + index,
  name: index % 100 === 0 ? `chosen ${index}` : `other ${index}`,
  kind: 'web',
  hosts: 1,
}));
const lastPage = 'page=15';

/** Polls one application of a hundred, and labels it. */
function labelled(team: string): Config {
  const entry = anEntry({
    account: 'one',
    selector: { kind: 'match', pattern: /^chosen/u },
    hosts: false,
    labels: { team },
    poll: { intervalMs: minuteMs, discoveryIntervalMs: 10 * minuteMs },
  });
  return { accounts: [accountOne()], apps: [entry] };
}

/** A reload with other labels, so many turns of the event loop after the last page of a list: all have the new ones. */
export async function expectLabelled(turns: number): Promise<void> {
  let applied: Promise<void> | undefined;
  let isAwaited = false;
  const { platform, daemon, page } = await aRunningDaemon(labelled('old'), {
    quotaPerMinute: 1_000_000,
    latencyMs: 0,
    fleet: { applications },
    wire: (wire) => ({
      ...wire,
      send: async (...call) => {
        const answer = await wire.send(...call);
        if (isAwaited && call[0].target.includes(lastPage)) reload();
        return answer;
      },
    }),
  });
  const reload = (): void => {
    isAwaited = false;
    let left = turns;
    const next = (): void => {
      left -= 1;
      if (left < 0) applied = daemon.apply(labelled('new'));
      else setImmediate(next);
    };
    next();
  };
  await platform.clock.advance(9.5 * minuteMs);
  isAwaited = true;
  await platform.clock.advance(minuteMs);
  await applied;
  const text = await page();

  expect(applied).toBeDefined();
  expect(text.match(/^newrelic_application_info\{.*team="new"/gmu)).toHaveLength(30);
  expect(text).not.toContain('team="old"');
}
