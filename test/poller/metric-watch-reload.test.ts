import { describe, expect, it } from 'vitest';
import type { Values } from '../../src/model/polled-series.ts';
import { aMetric, asking, aWatch, busy, noSummary, type WatchBench } from './metric-watch-bench.ts';

describe('hosts', () => {
  const values = (depth: number | undefined): ReadonlyMap<string, Values> =>
    new Map<string, Values>([
      ['1', busy],
      ['2', [...busy, depth]],
    ]);

  it('have a metric if one of them has it, with or without the application', () => {
    const bench = aWatch(asking(['throughput', aMetric()], { application: false }));
    bench.select('2', asking(['throughput', aMetric()], { selector: { kind: 'id', id: '2' } }));

    for (let poll = 0; poll < 3; poll += 1) {
      bench.poll('1', [], { hosts: values(3) });
      bench.poll('2', [...busy, undefined], { hosts: values(3) });
    }

    expect(bench.told).toEqual([]);
  });

  it('lack a metric that is read of them alone, under the name of its gauge', () => {
    const entry = asking(['throughput', aMetric({ scope: 'hosts' })]);
    const bench = aWatch(entry);

    for (let poll = 0; poll < 3; poll += 1)
      bench.poll('1', [...busy, 9], { hosts: values(undefined) });

    expect(bench.names()).toEqual(['host_queue_depth']);
  });

  it('lack a metric if the list calls the application busy, unless it has no hosts', () => {
    const summary = { ...noSummary, requestsPerMinute: 30 };
    const entry = asking([aMetric({ scope: 'hosts' })]);
    const bench = aWatch();
    const alone = asking([aMetric({ scope: 'hosts' })], { selector: { kind: 'id', id: '2' } });
    bench.select('1', entry, { summary });
    bench.select('2', alone, { summary, hostIds: [] });

    for (let poll = 0; poll < 3; poll += 1) {
      bench.poll('1', [undefined], { hosts: new Map([['1', []]]) });
      bench.poll('2', [undefined]);
    }

    expect(bench.watch.missing.map(({ selector }) => selector)).toEqual(['match=^']);
  });

  it('prove nothing while there is none', () => {
    const bench = aWatch(asking(['throughput', aMetric({ scope: 'hosts' })]));

    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.told).toEqual([]);
  });
});

describe('a reload', () => {
  const metrics = ['throughput', aMetric()] as const;
  const missing = (): WatchBench => {
    const bench = aWatch(asking(metrics));
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);
    return bench;
  };

  it('with the same entry tells nothing again', () => {
    const bench = missing();

    bench.select('1', asking(metrics));
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.names()).toEqual(['queue_depth']);
    expect(bench.told).toEqual(['- queue_depth']);
  });

  it('with another metric beside it tells only of that one', () => {
    const bench = missing();

    bench.select('1', asking([...metrics, aMetric({ metric: 'Custom/B', as: 'b' })]));
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined, undefined]);

    expect(bench.names()).toEqual(['queue_depth', 'b']);
    expect(bench.told).toEqual(['- queue_depth', '- b']);
  });

  it('with another metric waits again for every application', () => {
    const bench = aWatch(asking(metrics));
    bench.select('2', asking(metrics));
    for (const id of ['1', '2', '1', '2']) bench.poll(id, [...busy, undefined]);

    const entry = asking([...metrics, aMetric({ metric: 'Custom/B', as: 'b' })]);
    bench.select('1', entry);
    bench.select('2', entry);
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined, undefined]);
    const before = bench.names();
    for (let poll = 0; poll < 2; poll += 1) bench.poll('2', [...busy, undefined, undefined]);

    expect(before).toEqual(['queue_depth']);
    expect(bench.names()).toEqual(['queue_depth', 'b']);
  });

  it('forgets what is no longer asked for, without a word', () => {
    const bench = missing();

    bench.select('1', asking(['throughput']));

    expect(bench.names()).toEqual([]);
    expect(bench.told).toEqual(['- queue_depth']);
  });

  it('forgets an entry that chooses nothing any more, and begins anew when it does', () => {
    const entry = asking(metrics);
    const bench = aWatch(entry);
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);

    bench.states.delete('1');
    bench.watch.followStates();
    const without = bench.names();
    bench.select('1', entry);
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(without).toEqual([]);
    expect(bench.names()).toEqual(['queue_depth']);
  });

  it('does not miss what had a value before it', () => {
    const bench = aWatch(asking(metrics));
    bench.poll('1', [...busy, 5]);

    bench.select('1', asking([...metrics, aMetric({ metric: 'Custom/B', as: 'b' })]));
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined, 1]);

    expect(bench.told).toEqual([]);
  });

  it('ignores what a poll from before it brings of other series', () => {
    const bench = aWatch(asking(metrics));
    const { series } = asking(['throughput', 'memory']);
    const state = bench.states.get('1');

    if (state !== undefined) {
      bench.watch.polled(
        { ...state, pollSucceeded: true },
        { windowEndMs: 1, series, application: [...busy, 1], hosts: new Map() },
      );
    }
    for (let poll = 0; poll < 2; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.told).toEqual(['- queue_depth']);
  });
});
