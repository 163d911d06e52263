import { describe, expect, it } from 'vitest';
import type { Values } from '../../src/model/polled-series.ts';
import { aMetric, asking, aWatch, busy, noSummary } from './metric-watch-bench.ts';

describe('a metric that never has a value', () => {
  it('is missing after two polls of an application that handles requests, and told once', () => {
    const bench = aWatch(asking(['throughput', aMetric()]));

    bench.poll('1', [...busy, undefined]);
    const afterOne = bench.names();
    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(afterOne).toEqual([]);
    expect(bench.watch.missing).toEqual([
      {
        selector: 'match=^',
        name: 'queue_depth',
        metric: 'Custom/Queue/Depth',
        value: 'average_value',
      },
    ]);
    expect(bench.told).toEqual(['- queue_depth']);
  });

  it('is no longer missing once a value comes, even 0, and is not missed again', () => {
    const bench = aWatch(asking(['throughput', aMetric()]));
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);

    bench.poll('1', [...busy, 0]);
    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.names()).toEqual([]);
    expect(bench.told).toEqual(['- queue_depth', '+ queue_depth']);
  });

  it('keeps the list the same as long as nothing in it changes', () => {
    const bench = aWatch(asking(['throughput', aMetric()]));
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);

    const before = bench.watch.missing;
    bench.poll('1', [...busy, undefined]);
    bench.watch.followStates();

    expect(bench.watch.missing).toBe(before);
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
      what: 'a gauge without transaction types',
      metrics: ['memory'] as const,
      values: [undefined],
      expected: ['newrelic_application_memory_used_bytes', 'Memory/Physical'],
    },
  ])('may be $what', ({ metrics, values, expected }) => {
    const bench = aWatch(asking(['throughput', ...metrics]));

    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, ...values]);

    expect(bench.watch.missing.map(({ name, metric }) => [name, metric])).toEqual([expected]);
  });

  it('may be one of several under one name', () => {
    const young = aMetric({ metric: 'GC/Young', as: 'gc', labels: { pool: 'young' } });
    const old = aMetric({ metric: 'GC/Odl', as: 'gc', labels: { pool: 'old' } });
    const bench = aWatch(asking(['throughput', young, old]));

    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, 1, undefined]);

    expect(bench.watch.missing.map(({ metric }) => metric)).toEqual(['GC/Odl']);
  });
});

describe('what proves nothing', () => {
  const nothing: Values = [undefined, undefined, undefined];

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
      what: 'the response time of an idle application',
      metrics: ['throughput', 'response_time', 'memory'] as const,
      values: [0, undefined, undefined, undefined, 5e8],
    },
    {
      what: 'one transaction type, if the other one has values',
      metrics: ['throughput', 'response_time'] as const,
      values: [...busy, 0.2, undefined],
    },
    {
      what: 'a metric of an application without any value but 0',
      metrics: ['throughput', aMetric()] as const,
      values: [0, 0, undefined],
    },
  ])('is $what', ({ metrics, values }) => {
    const bench = aWatch(asking(metrics));

    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', values);

    expect(bench.told).toEqual([]);
  });

  it('is a metric that the entry does not ask for', () => {
    const ofApplications = aMetric({ scope: 'applications' });
    const ofHosts = aMetric({ as: 'other', scope: 'hosts' });
    const bench = aWatch(asking(['throughput', ofApplications], { application: false }));
    bench.select(
      '2',
      asking(['throughput', ofHosts], { hosts: false, selector: { kind: 'id', id: '2' } }),
    );

    for (let poll = 0; poll < 3; poll += 1) {
      bench.poll('1', [], { hosts: new Map([['1', busy]]) });
      bench.poll('2', busy);
    }

    expect(bench.told).toEqual([]);
  });

  it('is a poll without a reading, of an application that is gone or reports nothing', () => {
    const bench = aWatch(asking(['throughput', aMetric()]));
    bench.select('2', asking(['throughput', aMetric()]), { reporting: false });

    for (let poll = 0; poll < 5; poll += 1) {
      bench.poll('1', undefined);
      bench.poll('2', [...busy, undefined]);
    }

    expect(bench.told).toEqual([]);
  });

  it('is a poll that did not get everything', () => {
    const bench = aWatch(asking(['throughput', aMetric()]));

    for (let poll = 0; poll < 5; poll += 1) {
      bench.poll('1', [...busy, undefined], { failed: true });
    }

    expect(bench.told).toEqual([]);
  });

  it('is an idle application, whatever the list says if throughput is asked for', () => {
    const summary = { ...noSummary, requestsPerMinute: 30 };
    const bench = aWatch();
    bench.select('1', asking(['throughput', 'response_time']), { summary });

    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...nothing, undefined]);

    expect(bench.told).toEqual([]);
  });

  it('but the list says enough if throughput is not asked for', () => {
    const summary = { ...noSummary, requestsPerMinute: 30 };
    const bench = aWatch();
    bench.select('1', asking([aMetric()]), { summary });

    for (let poll = 0; poll < 2; poll += 1) bench.poll('1', [undefined]);

    expect(bench.told).toEqual(['- queue_depth']);
  });
});

describe('an entry with several applications', () => {
  const entry = asking(['throughput', aMetric()]);

  it('waits until each of them was polled twice', () => {
    const bench = aWatch(entry);
    bench.select('2', entry);

    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...busy, undefined]);
    bench.poll('2', busy);
    const before = [...bench.told];
    bench.poll('2', busy);

    expect(before).toEqual([]);
    expect(bench.told).toEqual(['- queue_depth']);
  });

  it('waits for none that fails, is gone, or reports nothing', () => {
    const bench = aWatch(entry);
    bench.select('2', entry);
    bench.select('3', entry, { reporting: false });
    bench.select('4', entry);
    const gone = bench.states.get('4');
    if (gone !== undefined) bench.states.set('4', { ...gone, gone: true });

    bench.poll('2', undefined, { failed: true });
    for (let poll = 0; poll < 2; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.told).toEqual(['- queue_depth']);
  });

  it('misses nothing that one of them has, even in a poll that failed in part', () => {
    const bench = aWatch(entry);
    bench.select('2', entry);

    bench.poll('2', [...busy, 7], { failed: true });
    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.told).toEqual([]);
  });

  it('looks at its own alone', () => {
    const other = asking(['throughput', aMetric()], { selector: { kind: 'id', id: '2' } });
    const bench = aWatch(entry);
    bench.select('2', other);

    for (let poll = 0; poll < 3; poll += 1) {
      bench.poll('1', [...busy, 7]);
      bench.poll('2', [...busy, undefined]);
    }

    expect(bench.watch.missing.map(({ selector }) => selector)).toEqual(['id=2']);
  });
});
