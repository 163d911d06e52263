import { Readable } from 'node:stream';
import type { Clock } from '../src/model/clock.ts';
import type { PolledSeries } from '../src/model/polled-series.ts';
import type { Operation } from '../src/model/telemetry.ts';
import { columnsOf } from '../src/nerdgraph/column-sets.ts';
import { valuesOf } from '../src/rest/call-groups.ts';
import { type AnswerLimits, readAnswer } from '../src/transport/answer-body.ts';
import type { ApiRequest, RawTransport } from '../src/transport/transport.ts';

export interface CannedVendorOptions {
  readonly applications: number;
  readonly hostsEach: number;
  readonly latencyMs: number;
  /** What polls ask for: every metric has exactly these values. */
  readonly series: readonly PolledSeries[];
}

/** An account with both APIs, whose answers cost next to nothing to make. */
export interface CannedVendor extends RawTransport {
  /** How many calls there were. */
  calls(operation: Operation): number;
}

const lowestId = 10_000_000;
const lowestHostId = 500_000_000;
const perPage = 200;
const chunkBytes = 64 * 1024;

/** The bytes of each answer come as a socket gives them, every chunk in a turn of its own. */
export function createCannedVendor(
  options: CannedVendorOptions,
  { clock, maxBytes }: { readonly clock: Clock; readonly maxBytes: AnswerLimits },
): CannedVendor {
  const answerTo = createAnswers(options);
  const calls = new Map<Operation, number>();
  const { latencyMs } = options;
  const turnAfter = async (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(delayMs, resolve);
    });
  return {
    calls: (operation) => calls.get(operation) ?? 0,
    send: async (request, _headers, signal) => {
      const { operation, answerSize = 'small' } = request;
      calls.set(operation, (calls.get(operation) ?? 0) + 1);
      const { parts, link } = answerTo(request);
      await turnAfter(latencyMs);
      async function* delivered(): AsyncGenerator<Buffer, void> {
        for (const chunk of chunksOf(parts)) {
          yield chunk;
          await turnAfter(0);
        }
      }
      return readAnswer(
        {
          statusCode: 200,
          headers: link === undefined ? {} : { link },
          body: Readable.from(delivered()),
        },
        { maxBytes: maxBytes[answerSize], peer: 'canned', signal },
      );
    },
    close: async () => {},
  };
}

/** New bytes for each chunk, as a socket has them. */
function* chunksOf(parts: readonly Buffer[]): Generator<Buffer, void> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const part of parts) {
    gathered.push(part);
    bytes += part.length;
    if (bytes < chunkBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
  }
  yield Buffer.concat(gathered);
}

interface CannedAnswer {
  readonly parts: readonly Buffer[];
  readonly link?: string | undefined;
}

function createAnswers(options: CannedVendorOptions): (request: ApiRequest) => CannedAnswer {
  const ids = Array.from({ length: options.applications }, (_, index) => lowestId + index);
  const rest = createRestAnswers(ids, options);
  const nrql = createNrqlAnswers(ids, options);
  const entityPages = pagesOf(ids, (page, nextPage) => ({
    data: {
      actor: {
        entitySearch: {
          count: ids.length,
          results: { nextCursor: nextPage, entities: page.map(entityOf(options)) },
        },
      },
    },
  }));
  return (request) => {
    const { target, body } = request;
    if (body === undefined) return rest(target);
    if (!body.includes('"search":')) return { parts: nrql(body) };
    const page = Number(/"cursor":"(\d+)"/u.exec(body)?.[1] ?? '0');
    return { parts: partsOf(entityPages[page]) };
  };
}

/** As a socket gives them: no part is larger than a chunk. */
function partsOf(bytes: Buffer = Buffer.alloc(0)): readonly Buffer[] {
  const count = Math.ceil(bytes.length / chunkBytes);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
}

function pagesOf(
  ids: readonly number[],
  documentOf: (page: readonly number[], nextPage: string | null) => unknown,
): readonly Buffer[] {
  const count = Math.ceil(ids.length / perPage);
  return Array.from({ length: count }, (_, index) => {
    const page = ids.slice(index * perPage, (index + 1) * perPage);
    return Buffer.from(JSON.stringify(documentOf(page, index < count - 1 ? `${index + 1}` : null)));
  });
}

function hostIdsOf(id: number, { hostsEach }: CannedVendorOptions): readonly number[] {
  const first = lowestHostId + (id - lowestId) * hostsEach;
  return Array.from({ length: hostsEach }, (_, index) => first + index);
}

function hostNameOf(hostId: number): string {
  return `web-${hostId}-7d9f8b6c5d-x2k4q`;
}

const rangeOf = /from=([\w%:.-]+)&to=([\w%:.-]+)/u;

function createRestAnswers(
  ids: readonly number[],
  options: CannedVendorOptions,
): (target: string) => CannedAnswer {
  const pages = pagesOf(ids, (page) => ({
    applications: page.map((id) => ({
      id,
      name: `application ${id}`,
      language: 'java',
      health_status: 'green',
      reporting: true,
      last_reported_at: '2026-09-01T10:00:00+00:00',
      application_summary: {
        response_time: 12.5,
        throughput: 812,
        error_rate: 0.1,
        apdex_target: 0.5,
        apdex_score: 0.98,
        host_count: options.hostsEach,
        instance_count: options.hostsEach,
      },
      settings: { app_apdex_threshold: 0.5, end_user_apdex_threshold: 7 },
      links: {
        application_instances: hostIdsOf(id, options),
        servers: [],
        application_hosts: hostIdsOf(id, options),
      },
    })),
  }));
  const metricAnswer = createMetricAnswers(options.series);
  return (target) => {
    if (target.startsWith('/v2/applications.json')) {
      const page = Number(/page=(\d+)/u.exec(target)?.[1] ?? '1');
      const next = `<https://api.newrelic.com/v2/applications.json?page=${page + 1}>; rel="next"`;
      const last = `<https://api.newrelic.com/v2/applications.json?page=${pages.length}>; rel="last"`;
      return {
        parts: partsOf(pages[page - 1]),
        link: page < pages.length ? `${next}, ${last}` : undefined,
      };
    }
    const [, id = ''] = /applications\/(\d+)/u.exec(target) ?? [];
    if (target.includes('/hosts.json')) {
      const hosts = hostIdsOf(Number(id), options).map((hostId) => ({
        id: hostId,
        host: hostNameOf(hostId),
      }));
      return { parts: [Buffer.from(JSON.stringify({ application_hosts: hosts }))] };
    }
    const [, from = '', to = ''] = rangeOf.exec(target) ?? [];
    return { parts: [metricAnswer(decodeURIComponent(from), decodeURIComponent(to))] };
  };
}

/** As long as most values are. */
const someValue = 40.612_345_678_901;

function createMetricAnswers(
  series: readonly PolledSeries[],
): (from: string, to: string) => Buffer {
  const byMetric = new Map<string, Map<string, number>>();
  for (const one of series) {
    const values = byMetric.get(one.metric) ?? new Map<string, number>();
    for (const name of valuesOf(one)) values.set(name, someValue);
    byMetric.set(one.metric, values);
  }
  const metrics = Array.from(byMetric, ([name, values]) => ({
    name: JSON.stringify(name),
    values: JSON.stringify(Object.fromEntries(values)),
  }));
  const found = metrics.map(({ name }) => name).join(',');
  return (from, to) => {
    const slices = metrics.map(
      ({ name, values }) =>
        `{"name":${name},"timeslices":[{"from":"${from}","to":"${to}","values":${values}}]}`,
    );
    return Buffer.from(
      `{"metric_data":{"from":"${from}","to":"${to}","metrics_not_found":[],"metrics_found":[${found}],"metrics":[${slices.join(',')}]}}`,
    );
  };
}

function entityOf({ hostsEach }: CannedVendorOptions): (id: number) => unknown {
  return (id) => ({
    guid: Buffer.from(`1234567|APM|APPLICATION|${id}`).toString('base64url'),
    name: `application ${id}`,
    accountId: 1_234_567,
    reporting: true,
    alertSeverity: 'NOT_ALERTING',
    applicationId: id,
    language: 'java',
    settings: { apdexTarget: 0.5 },
    apmSummary: {
      throughput: 812,
      responseTimeAverage: 0.0125,
      apdexScore: 0.98,
      hostCount: hostsEach,
      instanceCount: hostsEach,
    },
  });
}

const queryOf = /appId IN \(([\d,]+)\).*FACET ([\w, ]+) LIMIT .*SINCE (\d+) UNTIL (\d+)/u;

/** What a query is grouped by, and the rows of one application. */
type RowsOf = (id: number) => readonly unknown[];

/** The rows of an application are made beforehand, and put together for each query. */
function createNrqlAnswers(
  ids: readonly number[],
  options: CannedVendorOptions,
): (body: string) => readonly Buffer[] {
  const { applications, hosts } = columnsOf(options.series);
  const ofApplication = cellsOf(applications[0]?.columns.length ?? 0);
  const ofHost = cellsOf(hosts[0]?.columns.length ?? 0);
  const rowsByFacets: Readonly<Record<string, RowsOf>> = {
    appId: (id) => [rowOf({ appId: `${id}` }, ofApplication)],
    'appId, host': (id) =>
      hostIdsOf(id, options).map((host) =>
        rowOf({ appId: `${id}`, host: hostNameOf(host) }, ofHost),
      ),
  };
  const made = new Map<string, Buffer>();
  for (const [facets, rowsOf] of Object.entries(rowsByFacets)) {
    for (const id of ids) made.set(`${id} ${facets}`, textOf(rowsOf(id)));
  }
  return (body) => {
    const [, asked = '', facets = '', from, to] = queryOf.exec(body) ?? [];
    const rows = asked.split(',').map((id) => made.get(`${id} ${facets}`) ?? Buffer.alloc(0));
    const ofEach = facets === 'appId' ? 1 : options.hostsEach;
    const calls = asked.split(',').length * ofEach * callsOfRow;
    const names = JSON.stringify(facets.split(', '));
    // Every row begins with a comma.
    rows[0] = rows[0]?.subarray(1) ?? Buffer.alloc(0);
    return [
      Buffer.from('{"data":{"actor":{"account":{"nrql":{"results":['),
      ...rows,
      Buffer.from(
        `],"otherResult":{"calls":0},"totalResult":{"calls":${calls}},"metadata":{"facets":${names},"messages":[],"timeWindow":{"begin":${from},"end":${to}}}}}}}}`,
      ),
    ];
  };
}

function textOf(rows: readonly unknown[]): Buffer {
  return Buffer.from(rows.map((row) => `,${JSON.stringify(row)}`).join(''));
}

/** The heartbeat, and a value in each of so many columns. */
function cellsOf(columns: number): Readonly<Record<string, number>> {
  const names = Array.from({ length: columns }, (_, index) => `c${index + 1}`);
  return { live: 5, ...Object.fromEntries(names.map((name) => [name, someValue])) };
}

/** Of all metrics together, in every row. */
const callsOfRow = 203;

/** Each facet stands in the row twice, as New Relic writes it. */
function rowOf(
  facets: Readonly<Record<string, string>>,
  cells: Readonly<Record<string, number>>,
): unknown {
  const values = Object.values(facets);
  return {
    facet: values.length === 1 ? values[0] : values,
    ...facets,
    calls: callsOfRow,
    ...cells,
  };
}
