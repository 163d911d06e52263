import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../../src/model/config.ts';
import {
  type CustomMetric,
  type PolledSeries,
  seriesOf,
} from '../../../src/model/polled-series.ts';
import {
  countedBy,
  type ValueName,
  valueNames,
  vendorValues,
} from '../../../src/model/vendor-value.ts';
import { inBaseUnit } from '../../../src/newrelic/rest/metric-payload.ts';
import { aMetric as aCustomMetric, aSelected, throughputSeries } from '../../support/builders.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource, polledOne, sampleText } from './a-rest-source.ts';

const [web, other] = ['HttpDispatcher', 'OtherTransaction/all'];
const ownWindow = { kind: 'vendor_default' } as const;
/** From 10:00 to 10:05 at the time of the tests. */
const fiveMinutes = { kind: 'range', lengthMs: 300_000 } as const;
const nowMs = Date.UTC(2026, 8, 1, 10, 8, 30);

interface Asked {
  readonly series?: readonly PolledSeries[];
  readonly window?: AppEntry['poll']['window'];
  readonly wallMs?: number;
}

/** What a poll of an application reads in this answer. */
async function read(body: unknown, asked: Asked = {}) {
  const { series = throughputSeries, window = ownWindow, wallMs = nowMs } = asked;
  const clock = createFakeClock(wallMs);
  const { source, invalidSamples, failures } = aRestSource(async () => answerOf(body), { clock });
  const selected = aSelected({ id: '12' }, { hosts: false, series, poll: { window } });
  const { reading, error } = await polledOne(source, selected, {}, wallMs);
  const { application: values, windowEndMs } = reading ?? {};
  return { values, windowEndMs, error, invalid: invalidSamples, failures };
}

async function readMetrics(metrics: unknown, asked?: Asked) {
  return read({ metric_data: { metrics } }, asked);
}

interface Range {
  readonly from?: unknown;
  readonly to?: unknown;
}

const slice = (values: unknown, range: Range) => ({ ...range, values });
const ending = { to: '2026-09-01T10:05:00Z' };

function aMetric(name: string, values: unknown, range: Range = ending): object {
  return { name, timeslices: [slice(values, range)] };
}

const rpm = (value: unknown) => ({ requests_per_minute: value });

describe('the metric data', () => {
  const none = [undefined, undefined];

  it.each([
    [
      '12-metric-data-HttpDispatcher-found-docs-2016',
      [99_800, undefined],
      '2016-01-28T18:04:00Z',
      '2016-01-28T18:36:06Z',
    ],
    ['13-metric-data-not-found-docs-2016', none, undefined, '2016-01-28T18:36:33Z'],
    [
      '15-metric-data-summarize-two-names-empty-values-docs-2014',
      none,
      undefined,
      '2014-05-21T00:11:15Z',
    ],
  ])('of the sample %s is read', async (name, values, end, now) => {
    const found = await read(sampleText(`${name}.json`), { wallMs: Date.parse(now) });
    const windowEndMs = end === undefined ? undefined : Date.parse(end);

    expect(found).toMatchObject({ values, windowEndMs, invalid: [], error: undefined });
  });

  it.each<[string, unknown, readonly unknown[]]>([
    ['both transaction types', [aMetric(web, rpm(54.7)), aMetric(other, rpm(0))], [54.7, 0]],
    ['no metrics', [], none],
    ['no timeslices', [{ name: web, timeslices: [] }], none],
    ['empty values', [aMetric(web, {})], none],
    ['another value', [aMetric(web, { call_count: 7 })], none],
    ['another metric', [aMetric('EndUser', rpm(7))], none],
    [
      'an odd metric that was not asked for',
      [aMetric(web, rpm(1)), aMetric('x', 'no object')],
      [1, undefined],
    ],
  ])('has values or none, which is neither 0 nor a failure: %s', async (_, metrics, values) => {
    const isEmpty = values.every((value) => value === undefined);
    const windowEndMs = isEmpty ? undefined : Date.UTC(2026, 8, 1, 10, 5);

    expect(await readMetrics(metrics)).toMatchObject({ values, windowEndMs, invalid: [] });
  });

  it('has no window when every value was left out', async () => {
    expect((await readMetrics([aMetric(web, rpm(-1))])).windowEndMs).toBeUndefined();
  });

  it('does not depend on the order of the metrics', async () => {
    const all = [web, other, 'EndUser', '__proto__'].map((name, at) => aMetric(name, rpm(at + 1)));
    const shuffled = fc.shuffledSubarray(all, { minLength: all.length });

    await fc.assert(
      fc.asyncProperty(shuffled, async (metrics) => {
        expect((await readMetrics(metrics)).values).toEqual([1, 2]);
      }),
    );
  });

  const [early, late] = ['2026-09-01T10:03:59+00:00', '2026-09-01T10:05:00+00:00'];
  it.each([
    [early, late],
    [late, early],
  ])('ends with the earlier of two windows, in whole minutes: %s, %s', async (...ends) => {
    const metrics = [web, other].map((name, at) => aMetric(name, rpm(1), { to: ends[at] }));

    expect((await readMetrics(metrics)).windowEndMs).toBe(Date.UTC(2026, 8, 1, 10, 4));
  });

  const one = slice(rpm(1), ending);
  it.each<[string, unknown]>([
    ['the answer has no metric_data.metrics', undefined],
    ['the answer has no metric_data.metrics', { HttpDispatcher: 1 }],
    ['the answer has a metric without a name', [null]],
    ['the answer has a metric without a name', [{ timeslices: [one] }]],
    ['the answer has two metrics called "HttpDispatcher"', [aMetric(web, {}), aMetric(web, {})]],
    ['the metric HttpDispatcher has no timeslices', [{ name: web }]],
    [
      'the metric HttpDispatcher has 2 timeslices although',
      [{ name: web, timeslices: [one, one] }],
    ],
    ['the timeslice of the metric HttpDispatcher is not an', [{ name: web, timeslices: [7] }]],
    ['the timeslice of the metric HttpDispatcher has no', [{ name: web, timeslices: [ending] }]],
    ['the timeslice of the metric HttpDispatcher does not say its end', [aMetric(web, rpm(1), {})]],
  ])('of another shape is a failure that names what was asked for: %s', async (says, metrics) => {
    const { error, failures } = await readMetrics(metrics);

    expect(error).toMatchObject({ name: 'ApiError', reason: 'schema' });
    expect(error?.message).toContain(`application_metrics of application 12: ${says}`);
    expect(failures).toEqual(['application_metrics schema']);
  });
});

/** A time of the day of the tests, in UTC. */
const at = (time: string): string => `2026-09-01T${time}+00:00`;
const right = { from: at('10:00:00'), to: at('10:05:00') };
const old = { from: at('08:00:00'), to: at('08:05:00') };

describe('an answer for a window', () => {
  const answer = async (document: Range, range: Range, window?: Asked['window']) => {
    const metrics = [aMetric(web, rpm(7), range)];
    return read({ metric_data: { ...document, metrics } }, window && { window });
  };

  it.each<[string, Range, Range]>([
    ['the same minutes', right, right],
    ['an end in the last second, as the vendor writes it', right, { ...right, to: at('10:04:59') }],
    ['seconds', { from: at('10:00:33'), to: at('10:05:33') }, right],
    ['another zone', right, { from: '2026-09-01T12:00:00+02:00', to: '2026-09-01T12:05:00+02:00' }],
    ['a minute more on each side', right, { from: at('09:59:00'), to: at('10:06:00') }],
    ['nothing said of it', {}, {}],
    ['null said of it', { from: null }, { to: null }],
  ])('that was asked for is accepted: %s', async (_, document, range) => {
    expect(await answer(document, range, fiveMinutes)).toMatchObject({ values: [7, undefined] });
  });

  it.each<[string, Range, Range]>([
    ['the document', old, {}],
    ['a slice', right, old],
    ['its end', { ...right, to: at('10:06:01') }, {}],
    ['its start', {}, { ...right, from: at('09:58:59') }],
    ['its end, and nothing else said of it', {}, { to: '2031-09-01T10:05:00+00:00' }],
  ])('that nobody asked for is rejected: %s', async (_, document, range) => {
    const { values, error } = await answer(document, range, fiveMinutes);

    expect([values, error?.reason]).toEqual([undefined, 'schema']);
    expect(error?.message).toMatch(/answered for .*a cache or a proxy/u);
  });

  it('that nobody asked for is rejected even if it has no data', async () => {
    const { error } = await read({ metric_data: { ...old, metrics: [] } }, { window: fiveMinutes });

    expect(error?.reason).toBe('schema');
  });

  it.each<['from' | 'to', Range]>([
    ['to', { ...right, to: '2026-09-01T08:05:00' }],
    ['from', { from: '2026-09-01T10:00:00' }],
    ['to', { to: 'soon' }],
    ['from', { from: 7 }],
  ])('whose %s cannot be read is rejected: %s', async (member, range) => {
    for (const window of [fiveMinutes, ownWindow]) {
      for (const found of [await answer({}, range, window), await answer(range, right, window)]) {
        expect(found.error?.message).toContain(`"${member}" is no timestamp with a time zone`);
      }
    }
  });

  it.each([
    [at('10:05:59'), true],
    ['2026-08-31T10:08:30+00:00', true],
    ['2026-09-02T10:08:30+00:00', true],
    ['2026-08-31T10:08:29+00:00', false],
    ['2026-09-02T10:08:31+00:00', false],
  ])("of the vendor's own may end a day ago or in a day at most: %s, %s", async (to, isTaken) => {
    for (const found of [await answer({}, { to }), await answer({ to }, right)]) {
      expect(found.error === undefined).toBe(isTaken);
      expect(found.error?.message ?? '').toMatch(isTaken ? /^$/u : /more than a day.* clock\.$/u);
    }
  });
});

function aSeries(value: ValueName, changes: Partial<CustomMetric> = {}): readonly PolledSeries[] {
  return seriesOf([aCustomMetric('Custom/a', { value, ...changes })], []);
}

/** Metrics whose values are JSON texts. */
type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>;

async function readTexts(texts: Texts, series: readonly PolledSeries[]) {
  const metrics = Object.entries(texts).map(([name, values]) => {
    const members = Object.entries(values).map(
      ([value, text]) => `${JSON.stringify(value)}:${text}`,
    );
    return `{"name":${JSON.stringify(name)},"timeslices":[{"to":"${ending.to}","values":{${members.join()}}}]}`;
  });
  return read(`{"metric_data":{"metrics":[${metrics.join()}]}}`, { series });
}

describe('a value', () => {
  it.each<[ValueName, string, number | undefined, string?]>([
    ['average_response_time', '35', 0.035],
    ['average_response_time', '20.1', 0.0201],
    ['percent', '7', 0.07],
    ['used_mb_by_host', '1.5', 1_572_864],
    ['used_bytes_by_host', '1572864', 1_572_864],
    ['threshold', '0.5', 0.5],
    ['total_call_time_per_minute', '2', 2],
    ['requests_per_minute', '99800', 99_800],
    ['average_value', '1767225600000000000', 1_767_225_600_000_000_000],
    ['average_value', '-1.5', -1.5],
    ['rate', '-1.5', -1.5],
    ['call_count', '-1', undefined, 'negative'],
    ['score', '-0.1', undefined, 'negative'],
    ['average_value', '1e999', undefined, 'not_finite'],
    ['average_value', '"7"', undefined, 'not_a_number'],
    ['used_mb_by_host', '1e308', undefined, 'not_finite'],
    // Nothing that runs takes 0 bytes.
    ['used_mb_by_host', '0', undefined],
  ])('%s of %s is published in its base unit, unless it makes no sense: %s', async (...row) => {
    const [value, text, is, reason] = row;
    const { values, invalid } = await readTexts({ 'Custom/a': { [value]: text } }, aSeries(value));

    expect(values).toEqual([is]);
    expect(invalid).toEqual(reason === undefined ? [] : [reason]);
  });

  it('is scaled after that', async () => {
    const series = [1, 1000, -2].flatMap((scale) => aSeries('average_time', { scale }));
    const { values } = await readTexts({ 'Custom/a': { average_time: '1500' } }, series);

    expect(values).toEqual([1.5, 1500, -3]);
  });

  it.each<[ValueName, ValueName]>([
    ['average_response_time', 'requests_per_minute'],
    ['score', 'count'],
  ])('of calls is absent if there were none: %s, %s', async (value, counter) => {
    const of = async (calls: string) =>
      readTexts({ 'Custom/a': { [value]: '0', [counter]: calls } }, aSeries(value));

    expect([(await of('0')).values, (await of('1')).values]).toEqual([[undefined], [0]]);
  });
});

const someSeries = fc
  .array(
    fc.record({
      metric: fc.oneof(fc.constantFrom('a', 'b', '__proto__'), fc.string({ minLength: 1 })),
      value: fc.constantFrom(...valueNames),
      scale: fc.constantFrom(1, 0.5, 1000),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((all) => all.flatMap(({ value, ...changes }) => aSeries(value, changes)));
const someTexts = fc.dictionary(
  fc.oneof(fc.constantFrom('a', 'b'), fc.string({ minLength: 1 })),
  fc.dictionary(
    fc.constantFrom(...valueNames, 'other', '__proto__'),
    fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.constantFrom('null', '"1"', '[]', '1e999', '{}', 'true'),
    ),
    { noNullPrototype: true },
  ),
  { noNullPrototype: true },
);

describe('any series', () => {
  it('have the values of their metrics, one by one, and never a value that cannot be published', async () => {
    await fc.assert(
      fc.asyncProperty(someSeries, someTexts, async (series, texts) => {
        const { values } = await readTexts(texts, series);

        expect(values).toEqual(series.map((one) => expectedOf(one, texts)));
      }),
    );
  });
});

/** As simply as possible. */
function expectedOf(series: PolledSeries, texts: Texts): number | undefined {
  const found = Object.hasOwn(texts, series.metric) ? (texts[series.metric] ?? {}) : {};
  const numberOf = (name: ValueName | undefined): number | undefined => {
    const text = name !== undefined && Object.hasOwn(found, name) ? found[name] : undefined;
    const parsed: unknown = text === undefined ? undefined : JSON.parse(text);
    return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : undefined;
  };
  const value = numberOf(series.value);
  if (value === undefined || numberOf(countedBy[series.value]) === 0) return undefined;
  const unit = vendorValues[series.value];
  if (value < 0 && !unit.startsWith('as_metric')) return undefined;
  if (value === 0 && unit === 'bytes') return undefined;
  const published = inBaseUnit(series.value, value) * series.scale;
  return Number.isFinite(published) ? published : undefined;
}
