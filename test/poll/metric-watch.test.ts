import { describe, expect, it } from 'vitest';
import type { Values } from '../../src/model/polled-series.ts';
import { aMetric, asking, aWatch, busy } from './metric-watch-bench.ts';

const entry = asking(['throughput', aMetric()]);
const without: Values = [...busy, undefined];

describe('a metric that never has a value', () => {
  it('is missing after a whole poll of an application that handles requests, and told once', () => {
    const bench = aWatch(entry);

    const atFirst = bench.names();
    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', without);

    expect(atFirst).toEqual([]);
    expect(bench.watch.missing).toEqual([
      {
        selector: 'match=^',
        name: 'queue_depth',
        metric: 'Custom/Queue/Depth',
        value: 'average_value',
      },
    ]);
    expect(bench.told).toEqual(['queue_depth']);
  });

  it('is no longer missing once a value comes, even 0, and is not missed again', () => {
    const bench = aWatch(entry);
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', without);

    bench.poll('1', [...busy, 0]);
    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', without);

    expect(bench.names()).toEqual([]);
    expect(bench.told).toEqual(['queue_depth']);
  });

  it.each([
    {
      what: 'a preset, named with all of its transaction types',
      metrics: ['response_time'] as const,
      values: [undefined, undefined],
      expected: [
        'newrelic_application_response_time_seconds',
        'HttpDispatcher, OtherTransaction/all',
      ],
    },
    {
      what: 'each gauge of a preset',
      metrics: ['database'] as const,
      values: [3, undefined, undefined, undefined],
      expected: [
        'newrelic_application_database_response_time_seconds',
        'Datastore/allWeb, Datastore/allOther',
      ],
    },
    {
      what: 'one of several under one name',
      metrics: [
        aMetric({ metric: 'GC/Young', as: 'gc', labels: { pool: 'young' } }),
        aMetric({ metric: 'GC/Odl', as: 'gc', labels: { pool: 'old' } }),
      ],
      values: [1, undefined],
      expected: ['gc', 'GC/Odl'],
    },
  ])('may be $what', ({ metrics, values, expected }) => {
    const bench = aWatch(asking(['throughput', ...metrics]));

    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, ...values]);

    expect(bench.watch.missing.map(({ name, metric }) => [name, metric])).toEqual([expected]);
  });
});

describe('an entry that does not ask for throughput', () => {
  it.each([
    { requestsPerMinute: 3, told: ['queue_depth'] },
    { requestsPerMinute: 0, told: [] },
  ])('misses $told with $requestsPerMinute requests in the list', ({ requestsPerMinute, told }) => {
    const bench = aWatch();
    const summary = {
      requestsPerMinute,
      responseTimeSeconds: undefined,
      errorRatio: undefined,
      apdexScore: undefined,
      apdexTargetSeconds: undefined,
    };
    bench.select('1', asking([aMetric()]), { summary });

    bench.poll('1', [undefined]);

    expect(bench.told).toEqual(told);
  });
});

describe('what proves nothing', () => {
  it.each([
    {
      what: 'throughput of an application without requests',
      metrics: ['throughput', 'memory'] as const,
      values: [undefined, undefined, 5e8],
    },
    {
      what: 'errors of an application without any',
      metrics: ['throughput', 'errors'] as const,
      values: [...busy, undefined, undefined],
    },
    {
      what: 'an idle application',
      metrics: ['throughput', 'response_time', 'memory'] as const,
      values: [0, undefined, undefined, undefined, 5e8],
    },
    {
      what: 'one transaction type, if the other one has values',
      metrics: ['throughput', 'response_time'] as const,
      values: [...busy, 0.2, undefined],
    },
    {
      what: 'a metric that is read of nothing that the entry asks for',
      metrics: ['throughput', aMetric({ scope: 'applications' })] as const,
      values: [],
      rest: { application: false },
      hosts: new Map([['1', busy]]),
    },
    {
      what: 'a metric of hosts while there is none',
      metrics: ['throughput', aMetric({ scope: 'hosts' })] as const,
      values: without,
    },
    {
      what: 'a poll that did not get everything',
      metrics: ['throughput', aMetric()] as const,
      values: without,
      failed: true,
    },
    { what: 'a poll without a reading', metrics: ['throughput', aMetric()], values: undefined },
  ] as const)('is $what', ({ metrics, values, ...others }) => {
    const bench = aWatch(asking(metrics, 'rest' in others ? others.rest : {}));

    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', values, others);

    expect(bench.told).toEqual([]);
  });
});

describe('an entry with several applications', () => {
  it('waits until each of them was polled', () => {
    const bench = aWatch(entry);
    bench.select('2', entry);

    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', without);
    const before = [...bench.told];
    bench.poll('2', busy);

    expect(before).toEqual([]);
    expect(bench.told).toEqual(['queue_depth']);
  });

  it('waits for none that fails, is gone, or reports nothing', () => {
    const bench = aWatch(entry);
    bench.select('2', entry);
    bench.select('3', entry, { reporting: false });
    bench.select('4', entry);
    const gone = bench.states.get('4');
    if (gone !== undefined) bench.states.set('4', { ...gone, gone: true });

    bench.poll('2', undefined, { failed: true });
    bench.poll('1', without);

    expect(bench.told).toEqual(['queue_depth']);
  });

  it('misses nothing that one of them has, or one of its hosts, even in a poll that failed in part', () => {
    const bench = aWatch(entry);
    bench.select('2', entry);

    bench.poll('2', without, { failed: true, hosts: new Map([['1', [...busy, 7]]]) });
    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', without);

    expect(bench.told).toEqual([]);
  });

  it('judges hosts under the name of their gauge', () => {
    const bench = aWatch(asking(['throughput', aMetric({ scope: 'hosts' })]));

    const hosts = new Map([['1', without]]);
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', without, { hosts });

    expect(bench.names()).toEqual(['host_queue_depth']);
  });
});

describe('a reload', () => {
  const other = asking(['throughput', aMetric({ metric: 'Custom/B', as: 'b' })]);

  it('that asks for the same tells nothing again', () => {
    const bench = aWatch(entry);
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', without);

    bench.select('1', asking(['throughput', aMetric()]));
    const atOnce = bench.names();
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', without);

    expect([atOnce, bench.names()]).toEqual([['queue_depth'], ['queue_depth']]);
    expect(bench.told).toEqual(['queue_depth']);
  });

  it('that asks for the same hides nothing, although it comes more often than polls of all', () => {
    const bench = aWatch(entry);
    bench.add('2', entry);
    for (const id of ['1', '2']) {
      bench.poll(id, without);
      const next = asking(['throughput', aMetric()]);
      bench.add('1', next);
      bench.select('2', next);
    }

    expect(bench.told).toEqual(['queue_depth']);
  });

  it('that asks for something else forgets at once what was missing, and waits for a poll', () => {
    const bench = aWatch(entry);
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', without);

    bench.select('1', other);
    const atOnce = bench.names();
    bench.poll('1', without);

    expect([atOnce, bench.names()]).toEqual([[], ['b']]);
    expect(bench.told).toEqual(['queue_depth', 'b']);
  });

  it('after which nothing is asked for, or nothing is chosen, leaves nothing missing', () => {
    const bench = aWatch(entry);
    bench.select('2', asking(['throughput', aMetric()], { selector: { kind: 'id', id: '2' } }));
    for (let poll = 0; poll < 3; poll += 1) for (const id of ['1', '2']) bench.poll(id, without);
    const before = bench.names().length;

    bench.states.delete('2');
    bench.select('1', asking(['throughput']));

    expect(before).toBe(2);
    expect(bench.names()).toEqual([]);
  });

  it('ignores what a poll from before it brings of other series', () => {
    const bench = aWatch(entry);
    const { series } = asking(['throughput', 'memory']);
    const state = bench.states.get('1');

    if (state !== undefined) {
      const reading = { windowEndMs: 1, series, application: [...busy, 1], hosts: new Map() };
      bench.watch.polled({ ...state, pollSucceeded: true }, reading);
    }
    bench.poll('1', without);

    expect(bench.told).toEqual(['queue_depth']);
  });
});
