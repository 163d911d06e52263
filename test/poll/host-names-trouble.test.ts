import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { AppEntry } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, type PollerBench, rest } from '../support/poller-bench.ts';

const self = { kind: 'self', names: ['web-2'] } as const;
const hung = new Promise<never>(() => undefined);

/** A sidecar's entry: the host that it runs on, and nothing else. */
function aSidecarEntry(hosts: AppEntry['hosts'] = self): AppEntry {
  return anEntry({ hosts, application: false, poll: { discoveryIntervalMs: 15 * minuteMs } });
}

function bothNames(): Map<string, string> {
  return new Map([
    ['11', 'web-1'],
    ['12', 'web-2'],
  ]);
}

function shownHosts({ sink }: PollerBench): readonly string[] {
  return [...(sink.apps.get('1')?.reading?.hosts.keys() ?? [])];
}

/** An application with two hosts that answer: `web-1` and `web-2`. */
function aShop(entry: AppEntry): PollerBench {
  const bench = aBench(rest, [entry]);
  bench.source.list(anApplication({ id: '1', hostIds: ['11', '12'] }));
  bench.source.answer('1', webOf(30));
  bench.source.answer('1/11', webOf(10));
  bench.source.answer('1/12', webOf(20));
  bench.source.names('1', bothNames());
  return bench;
}

describe('a look-up of the host of this process that goes wrong', () => {
  it('no longer shows an application that answers 404, nor its hosts', async () => {
    const bench = aShop(aSidecarEntry({ kind: 'match', pattern: /^web-/u }));
    bench.start();
    await bench.clock.advance(14 * minuteMs);
    const before = shownHosts(bench);
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13'] }));
    const gone = new ApiError('not_found', 'HTTP 404', { status: 404 });
    bench.source.names('1', gone);
    await bench.clock.advance(3 * minuteMs);

    expect(before).toEqual(['11', '12']);
    expect(bench.sink.apps.has('1')).toBe(false);
    expect(bench.polls.at(-1)).toBe(true);
  });
});

describe('another choice of hosts by a reload', () => {
  it('does not call an entry missing whose host was not looked for yet', async () => {
    const bench = aShop(anEntry({ poll: { discoveryIntervalMs: minuteMs } }));
    bench.start();
    await bench.clock.advance(minuteMs + 1000);
    bench.source.names('1', hung);

    const entries = [aSidecarEntry({ kind: 'self', names: ['web-3'] })];
    await bench.poller.reconfigure({ account: anAccount(), entries });
    bench.calls.resize({ requestsPerMinute: 800, concurrency: 10 });
    await bench.clock.advance(59_000);

    expect(bench.poller.judge.status().missingSelectors).toEqual([]);
  });

  it.each([
    { to: false, left: [] },
    { to: { kind: 'match', pattern: /^web-1$/u }, left: ['11'] },
    { to: true, left: ['11', '12'] },
  ] as const)(
    'no longer shows other hosts, even if no poll succeeds: $to',
    async ({ to, left }) => {
      const entry = anEntry({ hosts: { kind: 'match', pattern: /^web/u } });
      const bench = aShop(entry);
      bench.start();
      await bench.clock.advance(1000);
      const failure = new ApiError('server', 'HTTP 500', { status: 500 });
      for (const subject of ['1', '1/11', '1/12']) bench.source.answer(subject, failure);
      bench.source.names('1', failure);

      await bench.poller.reconfigure({ account: anAccount(), entries: [anEntry({ hosts: to })] });
      await bench.clock.advance(2 * minuteMs);

      expect(shownHosts(bench)).toEqual(left);
      expect(bench.polls.at(-1)).toBe(false);
    },
  );
});
