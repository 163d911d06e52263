import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { type Page, readPages } from '../../../src/newrelic/rest/paging.ts';

const subject = {
  operation: 'list_applications',
  applicationId: undefined,
  hostId: undefined,
} as const;
const options = {
  subject,
  maxPages: 1000,
  weightOf: () => 1,
  keyOf: (item: string): string => item,
  onBadPage: (): undefined => undefined,
};

function nextLink(page: number): string {
  return `<https://elsewhere.example/list.json?page=${page}>; rel="next"`;
}

/** Fetches from a map of pages; a page that is not in it does not exist. */
function aBook(pages: Readonly<Record<number, Page<string> | Error>>): {
  readonly asked: number[];
  readonly fetchPage: (page: number) => Promise<Page<string>>;
} {
  const asked: number[] = [];
  return {
    asked,
    fetchPage: async (page) => {
      asked.push(page);
      const found = pages[page] ?? new Error(`page ${page} does not exist`);
      if (found instanceof Error) throw found;
      return found;
    },
  };
}

describe('readPages', () => {
  it('follows the next pages, and an empty page is not the end', async () => {
    const { fetchPage, asked } = aBook({
      1: { items: ['a'], error: undefined, link: nextLink(2) },
      2: { items: [], error: undefined, link: [nextLink(3)] },
      3: {
        items: ['b'],
        error: undefined,
        link: '<https://elsewhere.example/list.json?page=2>; rel="prev"',
      },
    });

    const list = await readPages(fetchPage, options);

    expect(list).toEqual({ items: ['a', 'b'], error: undefined, calls: 3 });
    expect(asked).toEqual([1, 2, 3]);
  });

  it.each([
    { what: 'itself', link: nextLink(2) },
    { what: 'an earlier one', link: nextLink(1) },
    { what: 'itself, which is the last', link: `${nextLink(2)}, <?page=2>; rel="last"` },
  ])('ends at a page that names $what as the next, and may be incomplete', async ({ link }) => {
    const { fetchPage, asked } = aBook({
      1: { items: ['a'], error: undefined, link: nextLink(2) },
      2: { items: ['b'], error: undefined, link },
    });
    const told: ApiError[] = [];

    const list = await readPages(fetchPage, {
      ...options,
      onBadPage: (error) => told.push(error),
    });

    expect(list).toMatchObject({ items: ['a', 'b'], error: { reason: 'schema' }, calls: 2 });
    expect(list.error?.message).toContain('page 2 names itself or an earlier page');
    expect(told).toEqual([list.error]);
    expect(asked).toEqual([1, 2]);
  });

  it('keeps what was read before a page that failed', async () => {
    const failure = new ApiError('server', 'status 500', { status: 500 });
    const { fetchPage } = aBook({
      1: { items: ['a'], error: undefined, link: nextLink(2) },
      2: failure,
    });

    const list = await readPages(fetchPage, options);

    expect(list).toEqual({ items: ['a'], error: failure, calls: 2 });
  });

  it('passes on errors that are not an ApiError', async () => {
    const abort = new Error('the reason of an abort');
    const { fetchPage } = aBook({ 1: abort });

    await expect(readPages(fetchPage, options)).rejects.toBe(abort);
  });

  it('gives up on a list that does not end, and says so', async () => {
    let calls = 0;
    const fetchPage = async (page: number): Promise<Page<string>> => {
      calls += 1;
      return { items: [`x${page}`], error: undefined, link: nextLink(page + 1) };
    };

    const list = await readPages(fetchPage, { ...options, maxPages: 7 });

    expect(calls).toBe(7);
    expect(list.items).toHaveLength(7);
    expect(list.error).toMatchObject({
      reason: 'schema',
      message: expect.stringContaining(
        'list_applications: the list does not end, or is longer than any real one: it was not read further after 7 pages',
      ),
    });
  });

  it.each([
    {
      what: 'goes on',
      link: (page: number): string => nextLink(page + 1),
      isWhole: false,
      calls: 3,
    },
    { what: 'is read to its end', link: (): undefined => undefined, isWhole: true, calls: 1 },
  ])('bounds the memory of a list that $what: $calls pages', async ({ link, isWhole, calls }) => {
    const fetchPage = async (page: number): Promise<Page<string>> => ({
      items: [`x${page}`],
      error: undefined,
      link: link(page),
    });

    const list = await readPages(fetchPage, { ...options, weightOf: () => 100_000 });

    expect(list.items).toHaveLength(calls);
    expect(list.error === undefined).toBe(isWhole);
  });

  it('gives up on a list with nothing new on two pages in a row, however many pages it has', async () => {
    let calls = 0;
    const fetchPage = async (page: number): Promise<Page<string>> => {
      calls += 1;
      return { items: ['a', 'b'], error: undefined, link: nextLink(page + 1) };
    };

    const list = await readPages(fetchPage, options);

    expect(calls).toBe(3);
    expect(list.error).toMatchObject({ reason: 'schema' });
  });

  it('reads on after a page with parts missing, and is incomplete then', async () => {
    const missing = new ApiError('schema', 'parts are missing');
    const { fetchPage } = aBook({
      1: { items: ['a'], error: missing, link: nextLink(2) },
      2: { items: ['b'], error: undefined, link: undefined },
    });

    const list = await readPages(fetchPage, options);

    expect(list).toEqual({ items: ['a', 'b'], error: missing, calls: 2 });
  });

  it.each([
    {
      what: 'with parts missing',
      error: new ApiError('schema', 'parts are missing'),
      links: [nextLink(2), undefined],
      told: 2,
    },
    {
      what: 'of a list that does not end',
      error: undefined,
      links: [nextLink(2), nextLink(3)],
      told: 1,
    },
    {
      what: 'that is both',
      error: new ApiError('schema', 'parts are missing'),
      links: [nextLink(2), nextLink(3)],
      told: 2,
    },
  ])('reports each page $what once', async ({ error, links, told }) => {
    const reported: ApiError[] = [];
    const fetchPage = async (page: number): Promise<Page<string>> => ({
      items: [],
      error,
      link: links[page - 1],
    });

    await readPages(fetchPage, { ...options, onBadPage: (problem) => reported.push(problem) });

    expect(reported).toHaveLength(told);
  });

  it('ends, and never asks for a page twice, whatever the Link headers say', async () => {
    const anyLink = fc.oneof(
      fc.integer({ min: -2, max: 60 }).map(nextLink),
      fc.array(fc.integer({ min: 0, max: 60 }).map(nextLink)),
      fc.string(),
      fc.constant(undefined),
    );

    await fc.assert(
      fc.asyncProperty(fc.array(anyLink, { minLength: 1, maxLength: 30 }), async (links) => {
        const asked: number[] = [];
        const fetchPage = async (page: number): Promise<Page<string>> => {
          asked.push(page);
          return { items: [`${page}`], error: undefined, link: links[asked.length % links.length] };
        };

        const list = await readPages(fetchPage, { ...options, maxPages: 40 });

        expect(new Set(asked).size).toBe(asked.length);
        expect(asked.length).toBeLessThanOrEqual(40);
        expect(list.calls).toBe(asked.length);
      }),
    );
  });
});
