import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import type { FleetOptions } from '../../../src/simulator/fleet-options.ts';
import { facts } from '../../../src/tools/verify/facts.ts';
import { eachAfter } from '../../support/slow.ts';
import { manyApplications, type Sent, type Variant, verified } from './verify-bench.ts';

type Change = (value: unknown) => unknown;

/** The document with what `path` leads to changed; `*` is every element; what becomes undefined is gone. */
function edited(value: unknown, path: readonly string[], change: Change): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return change(value);
  if (step === '*') {
    return Array.isArray(value) ? value.map((one) => edited(one, rest, change)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const member: unknown = Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
  return { ...value, [step]: edited(member, rest, change) };
}

type Answered = (answer: ApiResponse) => ApiResponse;

/** The answer with a part of its document changed. */
function changed(path: string, change: Change): Answered {
  return (answer) => {
    const document: unknown = JSON.parse(answer.body);
    return { ...answer, body: JSON.stringify(edited(document, path.split('.'), change)) };
  };
}

function headed(headers: ApiResponse['headers']): Answered {
  return (answer) => ({ ...answer, headers: { ...answer.headers, ...headers } });
}

function refused(status: number): Answered {
  return (answer) => ({ ...answer, status, body: '{"error":{"title":"No"}}' });
}

/** What NerdGraph refuses under 200. */
function failed(message: string, errorClass = 'INVALID_INPUT'): Answered {
  const body = JSON.stringify({ errors: [{ message, extensions: { errorClass } }] });
  return (answer) => ({ ...answer, status: 200, body });
}

function answered(document: object): Answered {
  return (answer) => ({ ...answer, status: 200, body: JSON.stringify(document) });
}

const gone: Change = () => undefined;
const plus =
  (more: number): Change =>
  (value) =>
    Number(value) + more;
const times =
  (factor: number): Change =>
  (value) =>
    Number(value) * factor;
/** Of what is a number, and not 0. */
const ofNumber =
  (change: (value: number) => number): Change =>
  (value) =>
    typeof value === 'number' && value !== 0 ? change(value) : value;
const withoutFirst: Change = (value) => (Array.isArray(value) ? value.slice(1) : value);
const later =
  (ms: number): Change =>
  (value) =>
    new Date(Date.parse(String(value)) + ms).toISOString().replace('.000Z', '+00:00');

const rows = 'data.actor.account.nrql.results';
const entities = 'data.actor.entitySearch.results.entities';
const metrics = 'metric_data.metrics';
const rates = `${metrics}.*.timeslices.*.values.requests_per_minute`;

const firstEntities = /accountId = '1234567'","cursor":null/u;
const plain = /AS calls FROM Metric WHERE appId IN \(\d+\)(?!.*(?:TIMESERIES|\/\*)).*LIMIT 10 /u;
const ofHosts = /FACET appId, host /u;
const ofApplication = /AS c1.*FACET appId LIMIT 5000/u;
const list = /^\/v2\/applications\.json$/u;
const roundedValues =
  /data\.json(?=.*HttpDispatcher.*Errors)(?=.*from=2026-09-01T09:20)(?!.*raw=true)/u;
const rawValues = /applications\/\d+\/metrics\/data\.json.*raw=true/u;

function isLongQuery(least: number, most: number): (sent: Sent) => boolean {
  return ({ text }) => {
    const query = /"nrql":"(?<nrql>.*-\*\/)"/u.exec(text)?.groups?.['nrql'] ?? '';
    return query.length >= least && query.length <= most;
  };
}

function hasOtherHeader(of: RegExp): (sent: Sent) => boolean {
  return ({ text, headers }) => of.test(text) && headers['X-Api-Key'] !== undefined;
}

interface Otherwise {
  readonly id: string;
  readonly when: RegExp | ((sent: Sent) => boolean);
  readonly does: Answered;
}

/** For each fact a New Relic that does it otherwise. */
const otherwise: readonly Otherwise[] = [
  { id: 'nerdgraph-key-header', when: hasOtherHeader(/entitySearch/u), does: refused(401) },
  { id: 'nerdgraph-date', when: firstEntities, does: headed({ date: undefined }) },
  {
    id: 'nerdgraph-account',
    when: /accounts \{/u,
    does: changed('data.actor.accounts.*.id', () => 8),
  },
  {
    id: 'nerdgraph-count',
    when: firstEntities,
    does: changed('data.actor.entitySearch.count', () => 200),
  },
  {
    id: 'nerdgraph-order',
    when: firstEntities,
    does: changed(entities, (all) => (Array.isArray(all) ? all.toReversed() : all)),
  },
  { id: 'nerdgraph-cursor', when: /"cursor":"/u, does: changed(`${entities}.*.guid`, () => 'x') },
  { id: 'nerdgraph-ids', when: /domainId IN/u, does: changed(entities, withoutFirst) },
  { id: 'nerdgraph-names', when: / AND name IN/u, does: changed(entities, withoutFirst) },
  {
    id: 'nerdgraph-tags',
    when: firstEntities,
    does: changed(`${entities}.*.tags`, () => [{ key: 'a', values: 'b' }]),
  },
  {
    id: 'nerdgraph-error-rate',
    when: firstEntities,
    does: changed(`${entities}.*.apmSummary.errorRate`, times(100)),
  },
  { id: 'nerdgraph-numbers', when: plain, does: changed(rows, () => []) },
  { id: 'nerdgraph-app-id', when: plain, does: changed(`${rows}.*.appId`, () => ({})) },
  {
    id: 'nerdgraph-facets',
    when: ofHosts,
    does: changed(`${rows}.*.facet`, (all) => (Array.isArray(all) ? all.toReversed() : all)),
  },
  {
    id: 'nerdgraph-sums',
    when: ofHosts,
    does: changed('data.actor.account.nrql.totalResult.calls', plus(1)),
  },
  {
    id: 'nerdgraph-window',
    when: plain,
    does: changed('data.actor.account.nrql.metadata.timeWindow.begin', plus(-60_000)),
  },
  { id: 'nerdgraph-nothing', when: /AS noTime/u, does: changed(`${rows}.*.none`, () => null) },
  { id: 'nerdgraph-heartbeat', when: ofHosts, does: changed(`${rows}.*.live`, () => 0) },
  { id: 'nerdgraph-length', when: isLongQuery(3900, 4100), does: failed('No') },
  { id: 'nerdgraph-too-long', when: isLongQuery(7900, 70_000), does: failed('No') },
  {
    id: 'nerdgraph-too-many',
    when: /LIMIT 5001/u,
    does: answered({ data: { actor: { account: { nrql: { results: [] } } } } }),
  },
  {
    id: 'query-percentile',
    when: /percentile\(duration, 95\) AS/u,
    does: changed(`${rows}.*.value`, () => ({ 'percentile[95]': 1 })),
  },
  {
    id: 'query-percentile-member',
    when: /\['95'\]/u,
    does: changed(`${rows}.*.value`, () => null),
  },
  { id: 'query-apdex', when: /apdex\(/u, does: changed(`${rows}.*.value`, () => 0.9) },
  { id: 'query-histogram', when: /histogram\(/u, does: changed(`${rows}.*.value`, () => [1, 2]) },
  {
    id: 'query-null',
    when: /FACET error\.class/u,
    does: changed(rows, (all) => [...(Array.isArray(all) ? all : []), { facet: null, calls: 1 }]),
  },
  {
    id: 'query-total',
    when: /FACET error\.class/u,
    does: changed('data.actor.account.nrql.totalResult.calls', plus(1000)),
  },
  {
    id: 'query-syntax',
    when: /GROUP BY/u,
    does: answered({ errors: [{ message: 'something is wrong with that' }] }),
  },
  {
    id: 'query-event-types',
    when: /SHOW EVENT TYPES/u,
    does: changed(`${rows}.*.eventType`, gone),
  },
  { id: 'series-windows', when: /SLIDE BY 300000/u, does: changed(rows, withoutFirst) },
  { id: 'series-values', when: /SLIDE BY 300000/u, does: changed(`${rows}.*.calls`, plus(1)) },
  { id: 'series-most', when: /TIMESERIES 60000/u, does: failed('too many buckets') },
  {
    id: 'series-past',
    when: /TIMESERIES 3600000/u,
    does: changed(`${rows}.*.beginTimeSeconds`, plus(-7200)),
  },
  { id: 'rest-key-header', when: hasOtherHeader(/applications\.json/u), does: refused(401) },
  { id: 'rest-date', when: list, does: headed({ date: undefined }) },
  {
    id: 'rest-pages',
    when: list,
    does: headed({ link: '<https://api.newrelic.com/v2/applications.json?page=3>; rel="next"' }),
  },
  { id: 'rest-order', when: /\?page=2/u, does: changed('applications.*.id', () => 7) },
  { id: 'rest-ids', when: /filter\[ids\]/u, does: changed('applications', withoutFirst) },
  {
    id: 'rest-silent',
    when: list,
    does: changed('applications.*', (one) =>
      Reflect.get(Object(one), 'reporting') === false
        ? edited(one, ['links', 'application_hosts'], () => [5])
        : one,
    ),
  },
  { id: 'rest-host-names', when: /hosts\.json/u, does: changed('application_hosts.*.host', gone) },
  { id: 'rest-quota', when: list, does: headed({ 'x-ratelimit-remaining': '900' }) },
  {
    id: 'rest-whole',
    when: roundedValues,
    does: changed(`${metrics}.*`, (metric) =>
      Reflect.get(Object(metric), 'name') === 'Apdex'
        ? edited(metric, ['timeslices', '*', 'values'], () => ({}))
        : metric,
    ),
  },
  {
    id: 'rest-raw',
    when: rawValues,
    does: changed(
      rates,
      ofNumber((rate) => Number(rate.toPrecision(3))),
    ),
  },
  {
    id: 'rest-rounding',
    when: roundedValues,
    does: changed(
      rates,
      ofNumber((rate) => rate + 0.001),
    ),
  },
  { id: 'rest-window', when: roundedValues, does: changed('metric_data.to', later(3_600_000)) },
  { id: 'rest-shortest', when: /from=2026-09-01T09:49:00Z/u, does: refused(422) },
  {
    id: 'rest-too-short',
    when: /from=2026-09-01T09:49:30/u,
    does: answered({ metric_data: { metrics: [] } }),
  },
  { id: 'rest-longest', when: /from=2026-08-31/u, does: refused(422) },
  {
    id: 'rest-not-found',
    when: /Verify\/Nothing.*values/u,
    does: changed('metric_data.metrics_not_found', () => []),
  },
  {
    id: 'rest-own-window',
    when: /data\.json(?!.*from=)/u,
    does: changed(`${metrics}.*.timeslices.*.to`, later(-600_000)),
  },
  { id: 'both-values', when: ofApplication, does: changed(`${rows}.*.c1`, times(2)) },
  { id: 'both-host-values', when: ofHosts, does: changed(`${rows}.*.c1`, times(2)) },
  { id: 'both-host-names', when: ofHosts, does: changed(rows, renamedButFirst) },
];

function renamedButFirst(all: unknown): unknown {
  if (!Array.isArray(all)) return all;
  const hosts = all.map((row) => String(Reflect.get(Object(row), 'host'))).toSorted();
  return all.map((row: object) => {
    const host = String(Reflect.get(row, 'host'));
    if (host === hosts[0]) return row;
    const facet: unknown = Reflect.get(row, 'facet');
    const [id] = Array.isArray(facet) ? (facet as readonly unknown[]) : [];
    return { ...row, host: `${host}.example`, facet: [id, `${host}.example`] };
  });
}

function variantOf({ when, does }: Otherwise, used: { count: number }): Variant {
  return (sent, answer) => {
    const isMeant = when instanceof RegExp ? when.test(sent.text) : when(sent);
    if (!isMeant) return answer;
    used.count += 1;
    return does(answer);
  };
}

/** Most need no second page. */
function fleetOf(id: string): { readonly fleet?: FleetOptions } {
  return /-(?:cursor|order)$/u.test(id) ? { fleet: manyApplications } : {};
}

describe('verify', () => {
  it('knows for every fact a New Relic that does it otherwise', () => {
    expect(otherwise.map(({ id }) => id)).toEqual(facts.map(({ id }) => id));
  });

  eachAfter(1, otherwise)('says that just this differs, and what it means: $id', async (one) => {
    const used = { count: 0 };

    const { seen, stdout, exitCode } = await verified({
      variant: variantOf(one, used),
      ...fleetOf(one.id),
    });

    expect(used.count).toBeGreaterThan(0);
    const differing = [...seen].filter(([, { verdict }]) => verdict === 'differs');
    expect(differing.map(([id]) => id)).toEqual([one.id]);
    const consequence = facts.find(({ id }) => id === one.id)?.differs ?? '';
    expect(stdout).toContain(`- ${one.id}: ${consequence}.`);
    expect(exitCode).toBe(1);
  });
});
