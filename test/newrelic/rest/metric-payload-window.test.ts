import { describe, expect, it } from 'vitest';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { TimeWindow } from '../../../src/model/window.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource } from './a-rest-source.ts';

const asked: TimeWindow = {
  fromMs: Date.UTC(2026, 8, 1, 10, 0),
  toMs: Date.UTC(2026, 8, 1, 10, 5),
};
const nowMs = Date.UTC(2026, 8, 1, 10, 8, 30);

interface Range {
  readonly from?: unknown;
  readonly to?: unknown;
}

function metric(name: string, range: Range): object {
  return { name, timeslices: [{ ...range, values: { requests_per_minute: 7 } }] };
}

async function answer(
  document: Range,
  slices: { readonly web: Range; readonly other?: Range },
  window: TimeWindow | undefined,
): Promise<unknown> {
  const metrics = [
    metric('HttpDispatcher', slices.web),
    ...(slices.other === undefined ? [] : [metric('OtherTransaction/all', slices.other)]),
  ];
  const { client, signal } = aRestSource(
    async () => answerOf({ metric_data: { ...document, metrics } }),
    { clock: createFakeClock(nowMs) },
  );
  const query = { window, series: seriesOf(['throughput'], ['web', 'other']), raw: false };
  return client.metrics('12', '345', query, { signal });
}

const right = { from: '2026-09-01T10:00:00+00:00', to: '2026-09-01T10:05:00+00:00' };

describe('an answer for the window that was asked for', () => {
  it.each([
    { what: 'the same minutes', document: right, slice: right },
    {
      what: 'an end in the last second, as the vendor writes it',
      document: right,
      slice: { ...right, to: '2026-09-01T10:04:59+00:00' },
    },
    {
      what: 'seconds, and another way to write the zone',
      document: { from: '2026-09-01T10:00:33Z', to: '2026-09-01T10:05:33Z' },
      slice: { from: '2026-09-01T12:00:00+02:00', to: '2026-09-01T12:05:00+02:00' },
    },
    {
      what: 'a minute more on each side',
      document: right,
      slice: { from: '2026-09-01T09:59:00+00:00', to: '2026-09-01T10:06:00+00:00' },
    },
    { what: 'nothing said of it', document: {}, slice: {} },
    { what: 'null said of it', document: { from: null }, slice: { to: null } },
  ])('is accepted: $what', async ({ document, slice }) => {
    const outcome = answer(document, { web: slice, other: slice }, asked);

    await expect(outcome).resolves.toMatchObject({ values: [7, 7] });
  });
});

describe('an answer for another window', () => {
  const old = { from: '2026-09-01T08:00:00+00:00', to: '2026-09-01T08:05:00+00:00' };

  it.each([
    { what: 'the document', document: old, slices: { web: {} } },
    { what: 'a slice', document: right, slices: { web: old } },
    { what: 'the slice of one type', document: {}, slices: { web: right, other: old } },
    {
      what: 'its end',
      document: { ...right, to: '2026-09-01T10:06:01+00:00' },
      slices: { web: {} },
    },
    {
      what: 'its start',
      document: {},
      slices: { web: { ...right, from: '2026-09-01T09:58:59+00:00' } },
    },
    {
      what: 'its end, and nothing else said of it',
      document: {},
      slices: { web: { to: '2031-09-01T10:05:00+00:00' } },
    },
  ])('is rejected: $what', async ({ document, slices }) => {
    const outcome = answer(document, slices, asked);

    await expect(outcome).rejects.toMatchObject({ name: 'ApiError', reason: 'schema' });
    await expect(outcome).rejects.toThrow(/answered for .*a cache or a proxy/);
  });

  it('is rejected even if it has no data', async () => {
    const { client, signal, failures } = aRestSource(async () =>
      answerOf({ metric_data: { ...old, metrics: [] } }),
    );
    const query = { window: asked, series: seriesOf(['throughput'], ['web']), raw: false };

    await expect(client.metrics('12', undefined, query, { signal })).rejects.toMatchObject({
      reason: 'schema',
    });
    expect(failures).toEqual(['application_metrics schema']);
  });
});

describe('an answer whose window cannot be read', () => {
  it.each([
    {
      what: 'an end without a time zone',
      slice: { ...right, to: '2026-09-01T08:05:00' },
      of: 'to',
    },
    { what: 'a start without a time zone', slice: { from: '2026-09-01T10:00:00' }, of: 'from' },
    { what: 'a word', slice: { to: 'soon' }, of: 'to' },
    { what: 'a number', slice: { from: 7 }, of: 'from' },
  ])('is rejected: $what', async ({ slice, of }) => {
    for (const window of [asked, undefined]) {
      const ofSlice = answer({}, { web: slice }, window);
      const ofDocument = answer(slice, { web: right }, window);

      await expect(ofSlice).rejects.toMatchObject({ name: 'ApiError', reason: 'schema' });
      await expect(ofSlice).rejects.toThrow(`"${of}" is no timestamp with a time zone`);
      await expect(ofDocument).rejects.toMatchObject({ reason: 'schema' });
    }
  });
});

describe("an answer for the vendor's own window", () => {
  const day = { before: '2026-08-31T10:08:30+00:00', after: '2026-09-02T10:08:30+00:00' };

  it.each([
    { what: 'some minutes ago', to: '2026-09-01T10:05:59+00:00' },
    { what: 'a day ago', to: day.before },
    { what: 'in a day', to: day.after },
  ])('may end $what', async ({ to }) => {
    await expect(answer({}, { web: { to } }, undefined)).resolves.toBeDefined();
  });

  it.each([
    { what: 'more than a day ago', to: '2026-08-31T10:08:29+00:00' },
    { what: 'more than a day from now', to: '2026-09-02T10:08:31+00:00' },
  ])('is rejected when it ends $what', async ({ to }) => {
    const ofSlice = answer({}, { web: { to } }, undefined);
    const ofDocument = answer({ to }, { web: right }, undefined);

    await expect(ofSlice).rejects.toMatchObject({ reason: 'schema' });
    await expect(ofSlice).rejects.toThrow(/more than a day from now\. Look for a cache.* clock\.$/);
    await expect(ofDocument).rejects.toMatchObject({ reason: 'schema' });
  });
});
