import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { ApiResponse, Transport } from '../../src/newrelic/calls/transport.ts';
import type {
  ListedMetric,
  MetricListEnd,
  MetricListQuestion,
} from '../../src/tools/metric-list.ts';
import { createMetricNames } from '../../src/tools/rest-metric-names.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { answerOf, createFakeTransport } from '../support/fake-transport.ts';

const ofApplication: MetricListQuestion = {
  applicationId: '11',
  hostId: undefined,
  like: undefined,
};

const aContext = {
  clock: createFakeClock(),
  logger: createFakeLogger(),
  observer: { invalidSample: () => undefined, failed: () => undefined },
};

interface Read extends MetricListEnd {
  readonly pages: readonly (readonly ListedMetric[])[];
  readonly failures: readonly string[];
}

async function read(
  send: Transport,
  question: Partial<MetricListQuestion> = {},
  { maxPages = 10, signal = new AbortController().signal } = {},
): Promise<Read> {
  const pages: (readonly ListedMetric[])[] = [];
  const failures: string[] = [];
  const observer = {
    invalidSample: (): undefined => undefined,
    failed: (operation: string, reason: string): void => {
      failures.push(`${operation} ${reason}`);
    },
  };
  const list = createMetricNames(maxPages, { ...aContext, send, observer });
  const end = await list(
    { ...ofApplication, ...question },
    { signal, onPage: (page) => pages.push(page) },
  );
  return { ...end, pages, failures };
}

function aPage(names: readonly string[], link?: string): ApiResponse {
  const metrics = names.map((name) => ({ name, values: ['average_value'] }));
  return answerOf({ metrics }, link === undefined ? {} : { headers: { link } });
}

function namesOf({ pages }: Read): readonly string[] {
  return pages.flat().map(({ name }) => name);
}

const first = '/v2/applications/11/metrics.json';
const linkTo = (next: number, last?: number): string =>
  [
    `<https://host/x?page=${next}>; rel="next"`,
    ...(last === undefined ? [] : [`<https://host/x?page=${last}>; rel="last"`]),
  ].join(', ');

describe('the names of metrics of the REST API', () => {
  it.each([
    { what: 'an application', question: {}, target: first },
    {
      what: 'a host',
      question: { hostId: '7' },
      target: '/v2/applications/11/hosts/7/metrics.json',
    },
    {
      what: 'a part of the name',
      question: { like: 'a b&c/ä' },
      target: `${first}?name=a b&c/ä`,
    },
  ])('are asked for by $what', async ({ question, target }) => {
    const vendor = createFakeTransport({ [target]: aPage([]) });

    const end = await read(vendor.send, question);

    expect(end).toMatchObject({ error: undefined, cut: undefined });
    expect(vendor.targets()).toEqual([target]);
  });

  it('come page by page', async () => {
    const vendor = createFakeTransport({
      [first]: aPage(['A'], linkTo(2, 2)),
      [`${first}?page=2`]: aPage(['B']),
    });

    const { pages } = await read(vendor.send);

    expect(pages).toEqual([
      [{ name: 'A', values: ['average_value'] }],
      [{ name: 'B', values: ['average_value'] }],
    ]);
  });

  it('repeat the text to look for on every page, and are checked against it', async () => {
    const vendor = createFakeTransport({
      [`${first}?name=queue`]: aPage(['Apdex', 'QueueTime'], linkTo(2)),
      [`${first}?name=queue&page=2`]: aPage(['Custom/queue']),
    });

    const list = await read(vendor.send, { like: 'queue' });

    expect(namesOf(list)).toEqual(['QueueTime', 'Custom/queue']);
    expect(vendor.unused()).toEqual([]);
  });

  it('are read up to a number of pages', async () => {
    const vendor = createFakeTransport({
      [first]: aPage(['A'], linkTo(2)),
      [`${first}?page=2`]: aPage(['B'], linkTo(3)),
    });

    const list = await read(vendor.send, {}, { maxPages: 2 });

    expect(list).toMatchObject({ error: undefined, cut: 'the first 2 pages', failures: [] });
    expect(namesOf(list)).toEqual(['A', 'B']);
  });

  it('are not cut if the last page that may be read is the last', async () => {
    const vendor = createFakeTransport({ [first]: aPage(['A']) });

    expect(await read(vendor.send, {}, { maxPages: 1 })).toMatchObject({ cut: undefined });
  });

  it('are kept up to a page that fails', async () => {
    const vendor = createFakeTransport({
      [first]: aPage(['A'], linkTo(2)),
      [`${first}?page=2`]: new ApiError('timeout', 'too late'),
    });

    const list = await read(vendor.send);

    expect(list).toMatchObject({ error: { reason: 'timeout' }, cut: undefined });
    expect(namesOf(list)).toEqual(['A']);
  });

  it.each([
    {
      what: 'status 404',
      answer: answerOf('', { status: 404 }),
      message: /^metric names of application 11: status 404/u,
    },
    {
      what: 'status 500',
      answer: answerOf('', { status: 500 }),
      message: /failed; try again\.$/u,
    },
    {
      what: 'no list',
      answer: answerOf({ metric: [] }),
      message: /the answer has no list of metrics/u,
    },
    {
      what: 'parts that are no metrics',
      answer: answerOf({
        metrics: [{ name: 'A', values: [1] }, { name: 'B' }, 7, { name: '', values: [] }],
      }),
      message: /parts of the list were left out \(3\)/u,
    },
  ])('are incomplete after an answer with $what', async ({ answer, message }) => {
    const { error } = await read(createFakeTransport({ [first]: answer }).send);

    expect(error?.message).toMatch(message);
  });

  it('reject with the reason of an abort, after what has arrived', async () => {
    const controller = new AbortController();
    const reason = new Error('stopped');
    const pages: (readonly ListedMetric[])[] = [];
    const vendor = createFakeTransport({ [first]: aPage(['A'], linkTo(2)) });
    const list = createMetricNames(10, {
      ...aContext,
      send: async (request, signal) => {
        if (request.target !== first) {
          controller.abort(reason);
          throw new ApiError('reset', 'cut off');
        }
        return vendor.send(request, signal);
      },
    });

    const ending = list(ofApplication, {
      signal: controller.signal,
      onPage: (page) => pages.push(page),
    });

    await expect(ending).rejects.toBe(reason);
    expect(pages).toHaveLength(1);
  });
});
