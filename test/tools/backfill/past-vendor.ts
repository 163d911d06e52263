import { dayMs, hourMs, minuteMs } from '../../../src/model/time.ts';
import type { TimeWindow } from '../../../src/model/window.ts';
import type { RawTransport } from '../../../src/newrelic/calls/transport.ts';
import { answerOf } from '../../support/fake-transport.ts';
import {
  applicationsOf,
  pastQueries,
  type Sale,
  salesOf,
  type Timeslice,
  timesliceOf,
  type World,
} from './past-world.ts';

type Row = Readonly<Record<string, unknown>>;

interface Group {
  readonly facets: Row;
  readonly cells: (window: TimeWindow) => Row;
}

/** What is grouped, and what each of its windows has: all of `count` 0 if it is not there. */
interface Asked {
  readonly facets: readonly string[];
  readonly groups: readonly Group[];
  readonly count: string;
}

/** NerdGraph of a world: reads of NRQL just what backfill asks, and has a row of each group of a range in each window. */
export function pastVendor(world: World): RawTransport {
  const answerTo = (body: string): object => {
    const { variables } = JSON.parse(body) as { variables: Readonly<Record<string, string>> };
    const { search, nrql = '', account = '' } = variables;
    if (search !== undefined) return { entitySearch: foundBy(search) };
    const [, begin = 0, end = 0, lengthMs = 0, stepMs = 1] =
      / SINCE (\d+) UNTIL (\d+) TIMESERIES (\d+) SLIDE BY (\d+)$/u.exec(nrql)?.map(Number) ?? [];
    const windows = Array.from(
      { length: Math.floor((end - begin - lengthMs) / stepMs) + 1 },
      (_, at) => ({ fromMs: begin + at * stepMs, toMs: begin + at * stepMs + lengthMs }),
    );
    if (windows.length > world.mostWindows) return { account: { nrql: null } };
    const isOfMetrics = nrql.includes('metricTimesliceName');
    const asked = (isOfMetrics ? timeslicesAsked : salesAsked)(world, Number(account), nrql);
    const metadata = { facets: asked.facets, messages: [], timeWindow: { begin, end } };
    return { account: { nrql: { ...partOf(asked, windows), metadata } } };
  };
  return {
    send: async ({ body = '{}' }) => {
      const actor = answerTo(body);
      const isTooMuch = JSON.stringify(actor) === '{"account":{"nrql":null}}';
      const errors = [{ message: 'slow', extensions: { errorClass: 'TIMEOUT' } }];
      return answerOf({ data: { actor }, ...(isTooMuch && { errors }) });
    },
    close: async () => undefined,
  };
}

function partOf({ facets: names, groups, count }: Asked, windows: readonly TimeWindow[]): object {
  const parts = windows.map((window) => {
    const { fromMs, toMs } = window;
    const stamp = { beginTimeSeconds: fromMs / 1000, endTimeSeconds: toMs / 1000 };
    return { stamp, rows: groups.map(({ facets, cells }) => ({ ...cells(window), facets })) };
  });
  const isThere = groups.map((_, at) => parts.some(({ rows }) => (rows[at] as Row)[count] !== 0));
  const results = parts.flatMap(({ stamp, rows }) =>
    rows
      .map(({ facets, ...cells }) => ({ ...stamp, ...facets, ...cells }))
      .filter((_, at) => isThere[at] === true),
  );
  if (names.length === 0) return { results, otherResult: null, totalResult: null };
  const total = (rows: readonly Row[], name: string): number =>
    rows.reduce((sum, row) => sum + Number(row[name]), 0);
  return {
    results,
    otherResult: parts.map(({ stamp }) => ({ ...stamp, [count]: 0 })),
    // Right for what is counted or summed up.
    totalResult: parts.map(({ stamp, rows }) => {
      const cells = Object.keys(rows[0] ?? {}).map((name) => [name, total(rows, name)] as const);
      return { ...Object.fromEntries(cells), ...stamp };
    }),
  };
}

/** What a window is made of: what is older than eight days is kept by the hour, and counts as a whole. */
function kept({ fromMs, toMs }: TimeWindow, { nowMs }: World): TimeWindow {
  if (fromMs >= nowMs - 8 * dayMs) return { fromMs, toMs };
  const [from, to] = [Math.floor(fromMs / hourMs), Math.ceil(toMs / hourMs)];
  return { fromMs: from * hourMs, toMs: to * hourMs };
}

function foundBy(search: string): object {
  const accountId = Number(/accountId = '(\d+)'/u.exec(search)?.[1]);
  const list = / AND (?:domainId|name) IN \((.*)\)$/u.exec(search)?.[1];
  const entities = applicationsOf(accountId)
    .filter(({ id, name }) => [`'${id}'`, `'${name}'`].some((one) => list?.includes(one) ?? true))
    .map(({ id, name, reporting, hosts, tags }) => ({
      guid: `guid-${id}`,
      applicationId: id,
      name,
      accountId,
      reporting,
      apmSummary: { hostCount: reporting ? hosts.length : null },
      tags: Object.entries(tags).map(([key, values]) => ({ key, values })),
    }));
  return { count: entities.length, results: { nextCursor: null, entities } };
}

const functions: Readonly<Record<string, (of: Timeslice) => number | null>> = {
  'count(V)': ({ count }) => count,
  'sum(V)': ({ sum }) => sum,
  'average(V)': ({ count, sum }) => (count === 0 ? null : sum / count),
  'max(V)': ({ count, max }) => (count === 0 ? null : max),
  'stddev(V)': ({ count, sum, squares }) =>
    count === 0 ? null : Math.sqrt(squares / count - (sum / count) ** 2),
  "sum(V['totalExclusive'])": ({ count, exclusive }) => (count === 0 ? null : exclusive),
};

function timeslicesAsked(world: World, accountId: number, nrql: string): Asked {
  const columns = [
    ...nrql.matchAll(/filter\((\S+), WHERE metricTimesliceName = '([^']+)'\) AS (\w+)/gu),
  ];
  const metrics = [...new Set(columns.map(([, , metric = '']) => metric))];
  const ids = /appId IN \(([^)]*)\)/u.exec(nrql)?.[1]?.split(',') ?? [];
  const named = /host IN \(([^)]*)\)/u.exec(nrql)?.[1];
  const isOfHosts = nrql.includes(' FACET appId, host ');
  const applications = applicationsOf(accountId).filter(({ id }) => ids.includes(`${id}`));
  const groups = applications.flatMap((application): readonly Group[] => {
    const cellsOf = (hosts: readonly (string | null)[], window: TimeWindow): Row => {
      const past = kept(window, world);
      const found = metrics.map((one) => timesliceOf(world, application, hosts, one, past));
      const cells = columns.map(([, of = '', metric = '', name = '']) => {
        const timeslice = found[metrics.indexOf(metric)];
        return [
          name,
          timeslice && functions[of.replace('newrelic.timeslice.value', 'V')]?.(timeslice),
        ];
      });
      return {
        calls: found.reduce((all, { count }) => all + count, 0),
        ...Object.fromEntries(cells),
      };
    };
    const { id: appId, hosts } = application;
    const own = hosts.filter((one) => one !== null && named?.includes(`'${one}'`) !== false);
    return isOfHosts
      ? own.map((host) => ({
          facets: { facet: [`${appId}`, host], appId, host },
          cells: (window: TimeWindow) => cellsOf([host], window),
        }))
      : [
          {
            facets: { facet: `${appId}`, appId },
            cells: (window: TimeWindow) => cellsOf(hosts, window),
          },
        ];
  });
  return { facets: isOfHosts ? ['appId', 'host'] : ['appId'], groups, count: 'calls' };
}

/** A query without the names that the exporter may add. */
function bare(nrql: string): string {
  const own = nrql.replace(/ SINCE .*$/u, '').replace(', count(*) AS backfill_records', '');
  return own.replaceAll(/ AS \w+/gu, '');
}

function salesAsked(world: World, accountId: number, nrql: string): Asked {
  const query = pastQueries.find((one) => bare(one.nrql) === bare(nrql));
  if (query === undefined) throw new Error(`nobody knows ${nrql}`);
  const { facets, gauges, where } = query;
  const lone = / AS (\w+)/u.exec(nrql)?.[1] ?? '';
  const keysOf = (sale: Sale): readonly unknown[] => facets.map((name) => sale[name]);
  const salesIn = (window: TimeWindow): readonly Sale[] => {
    const past = nrql.includes(' FROM Metric ') ? kept(window, world) : window;
    return salesOf(world, accountId, past).filter(where);
  };
  const day = salesIn({ fromMs: world.nowMs - dayMs, toMs: world.nowMs }).map(keysOf);
  const keys =
    facets.length === 0 ? [[]] : [...new Map(day.map((one) => [one.join(), one])).values()];
  const groups = keys.map((key) => ({
    facets: {
      ...(facets.length > 0 && { facet: facets.length === 1 ? key[0] : key }),
      ...Object.fromEntries(facets.map((name, at) => [name, key[at]])),
    },
    cells: (window: TimeWindow): Row => {
      const own = salesIn(window).filter((sale) => keysOf(sale).join() === key.join());
      const minutes = (window.toMs - window.fromMs) / minuteMs;
      const cells = gauges.map(([member, of]) => [
        member === 'q' ? lone : member,
        of(own, minutes),
      ]);
      return { ...Object.fromEntries(cells), backfill_records: own.length };
    },
  }));
  return { facets, groups, count: facets.length === 0 ? '' : 'backfill_records' };
}
