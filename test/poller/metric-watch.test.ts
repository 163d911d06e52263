import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import type { MissingMetric } from '../../src/model/missing-metric.ts';
import type { CustomMetric, MetricChoice, Values } from '../../src/model/polled-series.ts';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import { type AppState, newAppState } from '../../src/poller/app-state.ts';
import { createMetricWatch, type MetricWatch } from '../../src/poller/metric-watch.ts';
import { anApplication, anEntry } from '../support/builders.ts';

const minuteMs = 60_000;

function aMetric(overrides: Partial<CustomMetric> = {}): CustomMetric {
  return {
    metric: 'Custom/Queue/Depth',
    value: 'average_value',
    as: 'queue_depth',
    scale: 1,
    help: undefined,
    labels: {},
    scope: 'both',
    ...overrides,
  };
}

/** An entry for all applications that asks for these metrics. */
function asking(metrics: readonly MetricChoice[], rest: Partial<AppEntry> = {}): AppEntry {
  const { poll, ...others } = anEntry();
  return anEntry({
    ...others,
    ...rest,
    poll: { ...poll, metrics },
    series: anEntry({ poll: { metrics } }).series,
  });
}

interface PollOptions {
  readonly hosts?: ReadonlyMap<string, Values>;
  readonly failed?: boolean;
}

interface Bench {
  readonly watch: MetricWatch;
  readonly states: Map<string, AppState>;
  /** What was told, such as `- queue_depth` for a metric that is missing and `+` for one that came. */
  readonly told: string[];
  /** Adds an application, or gives it another entry. */
  select(
    id: string,
    entry: AppEntry,
    application?: Partial<SelectedApplication['application']>,
  ): void;
  /** A minute passes, and a poll of the application ends with these values. */
  poll(id: string, values: Values | undefined, options?: PollOptions): void;
  names(): readonly string[];
}

function aBench(entry?: AppEntry): Bench {
  const states = new Map<string, AppState>();
  const told: string[] = [];
  let nowMs = 0;
  const watch = createMetricWatch({
    clock: { monotonicMs: () => nowMs },
    states: { all: states },
    log: {
      metrics: (metrics: readonly MissingMetric[], isMissing) => {
        for (const { name } of metrics) told.push(`${isMissing ? '-' : '+'} ${name}`);
      },
    },
  });
  const bench: Bench = {
    watch,
    states,
    told,
    select: (id, chosen, application = {}) => {
      const selected = {
        application: anApplication({ id, hostIds: ['1', '2'], ...application }),
        entry: chosen,
      };
      states.set(id, { ...(states.get(id) ?? newAppState(selected, 0, 0)), selected });
      watch.followStates();
    },
    poll: (id, values, { hosts = new Map(), failed = false } = {}) => {
      nowMs += minuteMs;
      const before = states.get(id);
      if (before === undefined) throw new Error(`no application ${id}`);
      const { series } = before.selected.entry;
      const after = { ...before, pollSucceeded: !failed };
      states.set(id, after);
      watch.polled(after, values && { windowEndMs: nowMs, series, application: values, hosts });
    },
    names: () => watch.missing.map(({ name }) => name),
  };
  if (entry !== undefined) bench.select('1', entry);
  return bench;
}

/** Requests of web transactions, then of others. */
const busy: Values = [120, undefined];

describe('a metric that never has a value', () => {
  it('is missing after two polls of an application that handles requests, and told once', () => {
    const bench = aBench(asking(['throughput', aMetric()]));

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
    const bench = aBench(asking(['throughput', aMetric()]));
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);

    bench.poll('1', [...busy, 0]);
    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.names()).toEqual([]);
    expect(bench.told).toEqual(['- queue_depth', '+ queue_depth']);
  });

  it('keeps the list the same as long as nothing in it changes', () => {
    const bench = aBench(asking(['throughput', aMetric()]));
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
    const bench = aBench(asking(['throughput', ...metrics]));

    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, ...values]);

    expect(bench.watch.missing.map(({ name, metric }) => [name, metric])).toEqual([expected]);
  });

  it('may be one of several under one name', () => {
    const young = aMetric({ metric: 'GC/Young', as: 'gc', labels: { pool: 'young' } });
    const old = aMetric({ metric: 'GC/Odl', as: 'gc', labels: { pool: 'old' } });
    const bench = aBench(asking(['throughput', young, old]));

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
    const bench = aBench(asking(metrics));

    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', values);

    expect(bench.told).toEqual([]);
  });

  it('is a metric that the entry does not ask for', () => {
    const ofApplications = aMetric({ scope: 'applications' });
    const ofHosts = aMetric({ as: 'other', scope: 'hosts' });
    const bench = aBench(asking(['throughput', ofApplications], { application: false }));
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
    const bench = aBench(asking(['throughput', aMetric()]));
    bench.select('2', asking(['throughput', aMetric()]), { reporting: false });

    for (let poll = 0; poll < 5; poll += 1) {
      bench.poll('1', undefined);
      bench.poll('2', [...busy, undefined]);
    }

    expect(bench.told).toEqual([]);
  });

  it('is an idle application, whatever the list says if throughput is asked for', () => {
    const summary = {
      requestsPerMinute: 30,
      responseTimeSeconds: undefined,
      errorRatio: undefined,
      apdexScore: undefined,
      apdexTargetSeconds: undefined,
    };
    const bench = aBench();
    bench.select('1', asking(['throughput', 'response_time']), { summary });

    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...nothing, undefined]);

    expect(bench.told).toEqual([]);
  });

  it('but the list says enough if throughput is not asked for', () => {
    const summary = {
      requestsPerMinute: 30,
      responseTimeSeconds: undefined,
      errorRatio: undefined,
      apdexScore: undefined,
      apdexTargetSeconds: undefined,
    };
    const bench = aBench();
    bench.select('1', asking([aMetric()]), { summary });

    for (let poll = 0; poll < 2; poll += 1) bench.poll('1', [undefined]);

    expect(bench.told).toEqual(['- queue_depth']);
  });
});

describe('an entry with several applications', () => {
  const entry = asking(['throughput', aMetric()]);

  it('waits until each of them was polled twice', () => {
    const bench = aBench(entry);
    bench.select('2', entry);

    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...busy, undefined]);
    bench.poll('2', busy);
    const before = [...bench.told];
    bench.poll('2', busy);

    expect(before).toEqual([]);
    expect(bench.told).toEqual(['- queue_depth']);
  });

  it('waits for none that fails, is gone, or reports nothing', () => {
    const bench = aBench(entry);
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
    const bench = aBench(entry);
    bench.select('2', entry);

    bench.poll('2', [...busy, 7], { failed: true });
    for (let poll = 0; poll < 5; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.told).toEqual([]);
  });

  it('looks at its own alone', () => {
    const other = asking(['throughput', aMetric()], { selector: { kind: 'id', id: '2' } });
    const bench = aBench(entry);
    bench.select('2', other);

    for (let poll = 0; poll < 3; poll += 1) {
      bench.poll('1', [...busy, 7]);
      bench.poll('2', [...busy, undefined]);
    }

    expect(bench.watch.missing.map(({ selector }) => selector)).toEqual(['id=2']);
  });
});

describe('hosts', () => {
  const values = (depth: number | undefined): ReadonlyMap<string, Values> =>
    new Map<string, Values>([
      ['1', busy],
      ['2', [...busy, depth]],
    ]);

  it('have a metric if one of them has it, with or without the application', () => {
    const bench = aBench(asking(['throughput', aMetric()], { application: false }));
    bench.select('2', asking(['throughput', aMetric()], { selector: { kind: 'id', id: '2' } }));

    for (let poll = 0; poll < 3; poll += 1) {
      bench.poll('1', [], { hosts: values(3) });
      bench.poll('2', [...busy, undefined], { hosts: values(3) });
    }

    expect(bench.told).toEqual([]);
  });

  it('lack a metric that is read of them alone, under the name of its gauge', () => {
    const entry = asking(['throughput', aMetric({ scope: 'hosts' })]);
    const bench = aBench(entry);

    for (let poll = 0; poll < 3; poll += 1)
      bench.poll('1', [...busy, 9], { hosts: values(undefined) });

    expect(bench.names()).toEqual(['host_queue_depth']);
  });

  it('prove nothing while there is none', () => {
    const bench = aBench(asking(['throughput', aMetric({ scope: 'hosts' })]));

    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined]);

    expect(bench.told).toEqual([]);
  });
});

describe('a reload', () => {
  const metrics = ['throughput', aMetric()] as const;
  const missing = (): Bench => {
    const bench = aBench(asking(metrics));
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

  it('forgets what is no longer asked for, without a word', () => {
    const bench = missing();

    bench.select('1', asking(['throughput']));

    expect(bench.names()).toEqual([]);
    expect(bench.told).toEqual(['- queue_depth']);
  });

  it('forgets an entry that chooses nothing any more', () => {
    const bench = missing();

    bench.states.delete('1');
    bench.watch.followStates();

    expect(bench.names()).toEqual([]);
  });

  it('does not miss what had a value before it', () => {
    const bench = aBench(asking(metrics));
    bench.poll('1', [...busy, 5]);

    bench.select('1', asking([...metrics, aMetric({ metric: 'Custom/B', as: 'b' })]));
    for (let poll = 0; poll < 3; poll += 1) bench.poll('1', [...busy, undefined, 1]);

    expect(bench.told).toEqual([]);
  });

  it('ignores what a poll from before it brings of other series', () => {
    const bench = aBench(asking(metrics));
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
