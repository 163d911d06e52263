import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import type { Selector } from '../../../src/model/config.ts';
import type { ApiResponse, Transport } from '../../../src/newrelic/calls/transport.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import {
  appsOf,
  aRestSource,
  byIds,
  discover,
  everything,
  idsFrom,
  type ListScript,
  nextPage,
  notFound,
  serverError,
} from './a-rest-source.ts';

const byName: Selector = { kind: 'name', name: 'app 1' };

/** Such as those of `1 2`. */
function idsIn(text: string): readonly string[] {
  return text === '' ? [] : text.split(' ');
}

/** A page of applications with these ids, and perhaps a link to the next one. */
function apps(ids: string, next?: number): ApiResponse {
  return appsOf(idsIn(ids), next === undefined ? {} : nextPage(next));
}

const nameless = (id: number, next: number) =>
  answerOf({ applications: [{ id }] }, { headers: nextPage(next) });
const renamed = answerOf({
  applications: [
    { id: 1, name: 'renamed' },
    { id: 3, name: 'app 3' },
  ],
});
const pages = { list: apps('1', 2), 'list 2': apps('2') };
const noId = byIds('1', 'x/..', '１', '-1', '', '1\n');
const batches = [idsFrom(1, 200), idsFrom(201, 200), idsFrom(401, 50)];
const inBatches = Object.fromEntries(batches.map((batch) => [batch.join(), appsOf(batch)]));
const inPages = { '1,2,3': apps('1', 2), '1,2,3&page=2': apps('2', 3), '1,2,3&page=3': apps('3') };
const leftOut = { '1,2,3,4': apps('3'), 1: apps('1'), 2: apps(''), 4: notFound };
const threePages = { list: apps('1 2', 2), 'list 2': apps('', 3), 'list 3': renamed };
const idsOnly = { list: nameless(1, 2), 'list 2': nameless(2, 3), 'list 3': apps('3') };
const halves = { '4,5': notFound, '6,7': apps('6 7'), 4: apps('4'), 5: notFound };

describe('a discovery', () => {
  it.each<[string, readonly Selector[], ListScript, ids: string, known?: string]>([
    ['asks for ids once, in one call', byIds('1', '2', '1'), { '1,2': apps('2 1') }, '2 1'],
    ['asks for 200 ids in a call', byIds(...batches.flat()), inBatches, batches.flat().join(' ')],
    ['asks for the same ids on each page', byIds('1', '2', '3'), inPages, '1 2 3'],
    ['asks for an id that was left out alone', byIds('1', '2', '3', '4'), leftOut, '3 1'],
    ['never asks for an id that is not a number', noId, { 1: apps('1') }, '1'],
    ['reads the whole list for a name', [byName], { list: apps('1 2') }, '1 2'],
    ['reads the whole list for a pattern', [everything], { list: apps('1 2') }, '1 2'],
    [
      'reads the whole list for a name beside an id',
      [...byIds('1'), byName],
      { list: apps('1 2') },
      '1 2',
    ],
    ['reads the whole list without selectors', [], { list: apps('1 2') }, '1 2'],
    ['reads all pages', [byName], threePages, '1 2 3'],
    ['reads on through pages of which only the ids can be read', [byName], idsOnly, '3'],
    [
      'asks for known ones that pages left out',
      [byName],
      { ...pages, '4,5': apps('4') },
      '1 2 4',
      '1 4 5',
    ],
    [
      'finds the reason of a 404',
      [byName],
      { ...pages, '4,5,6,7': notFound, ...halves },
      '1 2 4 6 7',
      '4 5 6 7',
    ],
    ['trusts one page with half of the known ones', [byName], { list: apps('1') }, '1', '1 4'],
    [
      'trusts an empty list if nothing is there',
      [byName],
      { list: apps(''), 1: apps('') },
      '',
      '1',
    ],
    ['trusts an empty list beside a 404', [byName], { list: apps(''), 1: notFound }, '', '1'],
  ])('%s', async (_, selectors, script, ids, known = '') => {
    const found = await discover(selectors, script, idsIn(known));

    expect(found).toMatchObject({ complete: true, pendingIds: [] });
    expect(found.ids.join(' ')).toBe(ids);
  });

  it('believes the first of two pages with the same application, and names what it cannot read', async () => {
    expect((await discover([byName], threePages)).names).toEqual(['app 1', 'app 2', 'app 3']);
    expect((await discover([byName], idsOnly)).unreadableIds).toEqual(['1', '2']);
  });

  it('reads a list of 110 pages', async () => {
    let page = 0;
    const { source } = aRestSource(async () => {
      page += 1;
      return appsOf(idsFrom(page * 200, 200), page < 110 ? nextPage(page + 1) : {});
    });
    const found = await source.discover({ selectors: [] }, [], neverAborted);

    expect(found).toMatchObject({ complete: true, calls: 110 });
    expect(found.applications).toHaveLength(22_000);
  });
});

const many = idsFrom(1, 201);
const firstBatch = many.slice(0, 200).join();
const knownOnes = idsFrom(10, 250);
const knownFail = {
  [knownOnes.slice(0, 200).join()]: serverError,
  [knownOnes.slice(200).join()]: apps('210'),
};
const gateway = { list: apps('1', 2), 'list 2': answerOf('<html>') };
const batchFails = { [firstBatch]: serverError, 201: apps('201') };

describe('an incomplete discovery', () => {
  const lacks =
    'the list left out most of the known applications, but at least 1 of them are still there';

  it.each<
    [string, readonly Selector[], ListScript, ids: string, says: string, known?: readonly string[]]
  >([
    [
      'keeps what was read before the page that failed',
      [byName, ...byIds('9')],
      gateway,
      '1',
      'not JSON',
    ],
    ['goes on with other ids', byIds(...many), batchFails, '201', 'status 500'],
    [
      'goes on with known ones',
      [byName],
      { ...pages, ...knownFail },
      '1 2 210',
      'status 500',
      knownOnes,
    ],
    [
      'is one with an empty list',
      [byName],
      { list: apps(''), '1,2,3': apps('3') },
      '3',
      lacks,
      ['1', '2', '3'],
    ],
    [
      'is one with a third',
      [byName],
      { list: apps('1'), '2,3': apps('3') },
      '1 3',
      lacks,
      ['1', '2', '3'],
    ],
  ])('%s', async (_, selectors, script, ids, says, knownIds) => {
    const found = await discover(selectors, script, knownIds);

    expect(found.ids.join(' ')).toBe(ids);
    expect(found.error?.message).toContain(says);
    expect(found.pendingIds).toEqual(script === gateway ? ['9'] : found.pendingIds);
  });

  it.each<[FailureReason, number]>([
    ['auth', 1],
    ['dns', 1],
    ['connect', 1],
    ['tls', 1],
    ['throttled', 1],
    ['redirect', 1],
    ['timeout', 2],
    ['reset', 2],
  ])('whose first call of two fails by %s makes %d', async (reason, calls) => {
    const failure = new ApiError(reason, 'no answer');
    const others = calls === 1 ? {} : { 201: apps('201') };
    const found = await discover(byIds(...many), { [firstBatch]: failure, ...others });

    expect(found).toMatchObject({ error: failure, calls });
  });
});

describe('an abort of a discovery', () => {
  const deadline = new ApiError('timeout', 'the discovery did not end within 120 s');
  const stopped = new Error('shutting down');

  /** Aborts a discovery in one of its calls, which are then answered by `answer`. */
  async function abortedIn(
    call: number,
    reason: Error,
    answer: (call: number, ...asked: Parameters<Transport>) => ReturnType<Transport>,
    selectors: readonly Selector[],
    known: readonly string[] = [],
  ) {
    const controller = new AbortController();
    let calls = 0;
    const { source } = aRestSource(async (...asked) => {
      calls += 1;
      if (calls === call) controller.abort(reason);
      return answer(calls, ...asked);
    });
    return source.discover({ selectors }, known, controller.signal);
  }

  it.each<[string, Parameters<typeof abortedIn>[2]]>([
    ['though the call ended otherwise', async () => Promise.reject(deadline)],
    ['between two calls', async () => appsOf(['1'])],
  ])('rejects with its reason, %s', async (_, answer) => {
    await expect(abortedIn(1, stopped, answer, byIds('1', '2'))).rejects.toBe(stopped);
  });

  it('is not what a bug of this program is, which rejects', async () => {
    const mistake = new TypeError('undefined is not a function');

    await expect(discover([byName], { list: mistake })).rejects.toBe(mistake);
  });
});
