import { describe, expect, it } from 'vitest';
import type { Query } from '../../src/model/config.ts';
import { seriesOf } from '../../src/model/polled-series.ts';
import type { Polled, Question, Source } from '../../src/model/source.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { Transport } from '../../src/newrelic/calls/transport.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { demoApiKey } from '../../src/simulator/simulator-options.ts';
import { aGauge, aMetric, anEntry, aQuery, aQuestion } from '../support/builders.ts';
import { aJob } from '../support/calls-at-once.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { neverAborted } from './calls/fakes.ts';
import { aNerdGraphSource, transportTo } from './nerdgraph/a-nerdgraph-source.ts';
import { aRestSource, everything } from './rest/a-rest-source.ts';

type Row = Record<string, unknown>;

/** What NerdGraph says of one NRQL. */
interface NrqlPart {
  results: unknown[];
  otherResult: Row | null;
  totalResult: Row | null;
  metadata: { facets: unknown; timeWindow: { begin: number; end: number } };
}
interface NerdGraphBody {
  data: { actor: { account: { nrql: NrqlPart | null } } };
  errors?: unknown[];
}

/** What the REST API says of the metrics of an application or a host. */
interface RestBody {
  error?: unknown;
  metric_data: {
    from: string;
    to: string;
    metrics: { name: unknown; timeslices: { from: string; to: string; values: unknown }[] }[];
  };
}

const growing = aMetric('HttpDispatcher', { value: 'call_count', as: 'own_calls' });
const rates = seriesOf(['throughput'], ['web']);
const amounts = seriesOf(['throughput', growing], ['web']);

interface Subject {
  readonly name: string;
  readonly api: 'nerdgraph' | 'rest';
  readonly operation: 'application_metrics' | 'host_metrics' | 'query';
  readonly asked: { readonly series?: typeof rates; readonly query?: Query };
}

const count = aGauge('calls', { unit: 'count(*)', growsWithWindow: true, lone: 'count' });
const query: Query = {
  ...aQuery,
  nrql: 'SELECT count(*) AS calls FROM Transaction FACET appName, host LIMIT 50',
  gauges: [count],
  facets: ['appName', 'host'].map((name) => {
    return { name, label: name.toLowerCase(), isAttribute: true, isCases: false };
  }),
};
const without: Query = {
  ...query,
  nrql: 'SELECT count(*) AS calls FROM Transaction',
  facets: [],
};

const apis = ['nerdgraph', 'rest'] as const;
/** Everything that is read from answers. One that is forgotten fails in every row. */
const subjects: readonly Subject[] = [
  ...apis.flatMap((api): readonly Subject[] => [
    {
      name: 'amounts of an application',
      api,
      operation: 'application_metrics',
      asked: { series: amounts },
    },
    {
      name: 'rates of an application',
      api,
      operation: 'application_metrics',
      asked: { series: rates },
    },
    { name: 'amounts of hosts', api, operation: 'host_metrics', asked: { series: amounts } },
    { name: 'rates of hosts', api, operation: 'host_metrics', asked: { series: rates } },
  ]),
  { name: 'a query', api: 'nerdgraph', operation: 'query', asked: { query } },
  {
    name: 'a query without FACET',
    api: 'nerdgraph',
    operation: 'query',
    asked: { query: without },
  },
];

type NerdGraphLie = (part: NrqlPart, body: NerdGraphBody) => void;
type RestLie = (body: RestBody) => void;

interface Lie {
  readonly what: string;
  /** `undefined` where the API has no such fact. */
  readonly nerdgraph?: NerdGraphLie;
  readonly rest?: RestLie;
  /** Of which of them it says nothing wrong; of one that is not named it must not be believed. */
  readonly isTrueOf?: (subject: Subject) => boolean;
  /** Which have no such thing. */
  readonly isNothingTo?: (subject: Subject) => boolean;
  readonly reason?: string;
}

function moved(beginMinutes: number, endMinutes: number): Pick<Lie, 'nerdgraph' | 'rest'> {
  const by = (text: string, minutes: number): string =>
    new Date(Date.parse(text) + minutes * minuteMs).toISOString().replace('.000Z', 'Z');
  return {
    nerdgraph: ({ metadata: { timeWindow } }) => {
      timeWindow.begin += beginMinutes * minuteMs;
      timeWindow.end += endMinutes * minuteMs;
    },
    rest: ({ metric_data: data }) => {
      for (const one of [data, ...data.metrics.flatMap(({ timeslices }) => timeslices)]) {
        one.from = by(one.from, beginMinutes);
        one.to = by(one.to, endMinutes);
      }
    },
  };
}

const isOfRates = ({ name }: Subject): boolean => name.startsWith('rates');
const hasNoFacet = ({ name }: Subject): boolean => name === 'a query without FACET';
const isQuery = ({ operation }: Subject): boolean => operation === 'query';

function totalled(part: NrqlPart, by: number): void {
  for (const [name, value] of Object.entries(part.totalResult ?? {})) {
    if (typeof value === 'number') part.totalResult = { ...part.totalResult, [name]: value + by };
  }
}

const lies: readonly Lie[] = [
  { what: 'is about another hour', ...moved(-60, -60) },
  {
    what: 'is about a time that begins later and ends earlier',
    ...moved(1, -1),
    isTrueOf: isOfRates,
  },
  {
    what: 'is about more time, within a step of the roll-up',
    ...moved(-1, 0),
    isTrueOf: isOfRates,
  },
  {
    what: 'is about less time, within a step of the roll-up',
    ...moved(0, -1),
    isTrueOf: isOfRates,
  },
  { what: 'is about as much time, moved by a minute', ...moved(-1, -1), isTrueOf: () => true },
  { what: 'is about far more time', ...moved(-600, 0) },
  {
    what: 'does not say which time it is about',
    nerdgraph: ({ metadata }) => {
      metadata.timeWindow = {} as never;
    },
    rest: ({ metric_data: data }) => {
      data.from = 'yesterday';
    },
  },
  {
    what: 'is grouped by something else',
    nerdgraph: ({ metadata }) => {
      metadata.facets = ['entityGuid', 'name'];
    },
  },
  {
    what: 'does not say how it is grouped',
    nerdgraph: ({ metadata }) => {
      metadata.facets = null;
    },
    isTrueOf: hasNoFacet,
  },
  {
    what: 'has something twice',
    nerdgraph: ({ results }) => {
      results.push(results[0]);
    },
    rest: ({ metric_data: { metrics } }) => {
      metrics.push(...metrics.slice(0, 1));
    },
  },
  {
    what: 'has something twice, in its sums too',
    nerdgraph: (part) => {
      part.results.push(part.results[0]);
      totalled(part, Number(Object(part.results[0]).calls));
    },
  },
  {
    what: 'has something that was not asked for',
    nerdgraph: (part) => {
      const first = Object(part.results[0]) as Row;
      const facet = Array.isArray(first['facet']) ? ['4711', 'web-0'] : '4711';
      part.results.push({ ...first, facet, appId: '4711', appName: '4711', host: 'web-0' });
      totalled(part, Number(first['calls']));
    },
    // It may be about any application.
    isTrueOf: ({ name }) => name === 'a query',
  },
  {
    what: 'lacks a row',
    nerdgraph: ({ results }) => {
      results.pop();
    },
  },
  {
    what: 'lacks all rows',
    nerdgraph: (part) => {
      part.results = [];
    },
  },
  {
    what: 'has a row with less than there was',
    nerdgraph: ({ results }) => {
      const row = Object(results[0]) as Row;
      row['calls'] = Number(row['calls']) - 1;
    },
    isNothingTo: hasNoFacet,
  },
  { what: 'has a larger total', nerdgraph: (part) => totalled(part, 1), isNothingTo: hasNoFacet },
  { what: 'has a smaller total', nerdgraph: (part) => totalled(part, -1), isNothingTo: hasNoFacet },
  {
    what: 'has no total',
    nerdgraph: (part) => {
      part.totalResult = null;
    },
    isTrueOf: hasNoFacet,
  },
  {
    what: 'says that there are more rows',
    nerdgraph: (part) => {
      part.otherResult = { calls: 5 };
      totalled(part, 5);
    },
    isTrueOf: isQuery,
    reason: 'too_large',
  },
  {
    what: 'says that there are more rows, and has no total of them',
    nerdgraph: (part) => {
      part.otherResult = { calls: 5 };
    },
    isNothingTo: hasNoFacet,
  },
  {
    what: 'comes with an error',
    nerdgraph: (_, body) => {
      body.errors = [{ message: 'shard lost' }];
    },
    rest: (body) => {
      body.error = { title: 'shard lost' };
    },
    reason: 'server',
  },
  {
    what: 'has a part that cannot be read',
    nerdgraph: ({ results }) => {
      results[0] = 'row';
    },
    rest: ({ metric_data: { metrics } }) => {
      metrics.splice(0, 1, 'metric' as never);
    },
  },
  {
    what: 'has no list',
    nerdgraph: (part) => {
      part.results = {} as never;
    },
    rest: ({ metric_data: data }) => {
      data.metrics = {} as never;
    },
  },
  {
    what: 'has nothing of it',
    nerdgraph: (_, { data }) => {
      data.actor.account.nrql = null;
    },
    rest: (body) => {
      body.metric_data = null as never;
    },
  },
  {
    what: 'has several values for one time',
    nerdgraph: ({ results }) => {
      results.push({ ...Object(results[0]) });
    },
    rest: ({ metric_data: { metrics } }) => {
      for (const { timeslices } of metrics) timeslices.push(...timeslices.slice(0, 1));
    },
  },
];

const window = { kind: 'range', lengthMs: 5 * minuteMs } as const;

/** What a poll of the subject brings, with this change to the answers of its kind. */
async function polledWith(
  { api, operation, asked }: Subject,
  lie: Pick<Lie, 'nerdgraph' | 'rest'>,
): Promise<{ reason: string | undefined; values: number; changed: number }> {
  const clock = createFakeClock();
  const fleet = { traffic: 'flat', applications: 2, hosts: 2 } as const;
  const simulator = createSimulator({ fleet, ingestDelayMs: 0 }, { clock });
  let changed = 0;
  const raw = inMemoryTransport(simulator);
  const toRest: Transport = async (request, signal) =>
    raw.send(request, { 'Api-Key': demoApiKey }, signal);
  const through =
    (send: Transport): Transport =>
    async (request, signal) => {
      const answer = await send(request, signal);
      if (request.operation !== operation) return answer;
      changed += 1;
      const body: unknown = JSON.parse(answer.body);
      const { nrql } = api === 'nerdgraph' ? (body as NerdGraphBody).data.actor.account : {};
      if (nrql != null) lie.nerdgraph?.(nrql, body as NerdGraphBody);
      if (api === 'rest') lie.rest?.(body as RestBody);
      return { ...answer, body: JSON.stringify(body) };
    };
  const { source } =
    api === 'rest'
      ? aRestSource(through(toRest), { clock })
      : aNerdGraphSource(through(transportTo(simulator)), clock);
  await clock.advance(20 * minuteMs);
  const outcomes = await outcomesIn(source, asked, operation, clock.wallMs());
  return {
    reason: outcomes.map(({ error }) => error?.reason).find((one) => one !== undefined),
    values: outcomes.map((one) => valuesIn(one, operation)).reduce((sum, one) => sum + one, 0),
    changed,
  };
}

async function outcomesIn(
  source: Source,
  { series = rates, query: asked }: Subject['asked'],
  operation: Subject['operation'],
  wallMs: number,
): Promise<readonly Polled['outcome'][]> {
  const entry = anEntry({
    series,
    poll: { window, raw: true },
    hosts: operation === 'host_metrics',
    application: operation === 'application_metrics',
  });
  const { applications } = await source.discover({ selectors: [everything] }, [], neverAborted);
  const questions: readonly Question[] =
    asked === undefined
      ? applications.map((application) => aQuestion({ application, entry }))
      : [{ kind: 'query', query: asked }];
  const outcomes: Polled['outcome'][] = [];
  for (const group of source.groups(questions, [])) {
    const options = { job: aJob, signal: neverAborted, windowsAtMs: wallMs };
    for await (const { outcome } of source.poll(() => group, options)) {
      outcomes.push(outcome);
    }
  }
  return outcomes;
}

function valuesIn({ reading }: Polled['outcome'], operation: Subject['operation']): number {
  if (reading === undefined) return 0;
  if (!('hosts' in reading)) return reading.series.length;
  const parts = operation === 'host_metrics' ? [...reading.hosts.values()] : [reading.application];
  return parts.flat().filter((value) => value !== undefined).length;
}

const rows = lies.flatMap((lie) =>
  subjects
    .filter((subject) => lie[subject.api] !== undefined && lie.isNothingTo?.(subject) !== true)
    .map((subject) => ({ ...lie, subject, of: `${subject.name} (${subject.api})` })),
);

describe('11.1 an answer', () => {
  it.each(subjects)('that is true is believed: $name, $api', async (subject) => {
    const { reason, values, changed } = await polledWith(subject, {});

    expect(reason).toBeUndefined();
    expect(Math.min(values, changed)).toBeGreaterThan(0);
  });

  it.each(rows)('about $of that $what is believed only if that is true', async (row) => {
    const { subject, reason: expected = 'schema', isTrueOf } = row;
    const { reason, values } = await polledWith(subject, row);

    const isTrue = isTrueOf?.(subject) === true;
    expect([reason, values > 0]).toEqual(isTrue ? [undefined, true] : [expected, false]);
  });
});
