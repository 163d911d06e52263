import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import type { Selector } from '../../../src/model/config.ts';
import type { Transport } from '../../../src/newrelic/calls/transport.ts';
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
const nameless = (id: number, next: number) =>
  answerOf({ applications: [{ id }] }, { headers: nextPage(next) });
const renamed = answerOf({
  applications: [
    { id: 1, name: 'renamed' },
    { id: 3, name: 'app 3' },
  ],
});
const batches = [idsFrom(1, 200), idsFrom(201, 200), idsFrom(401, 50)];
const twoPages = { list: appsOf(['1'], nextPage(2)), 'list 2': appsOf(['2']) };

interface Case {
  readonly selectors?: readonly Selector[];
  readonly script: ListScript;
  readonly known?: readonly string[];
  readonly is: Readonly<Record<string, unknown>>;
}

describe('a discovery', () => {
  it.each<[string, Case]>([
    [
      'asks for ids once, in one call',
      {
        selectors: byIds('1', '2', '1'),
        script: { '1,2': appsOf(['2', '1']) },
        is: { ids: ['2', '1'] },
      },
    ],
    [
      'asks for 200 ids in a call',
      {
        selectors: byIds(...batches.flat()),
        script: Object.fromEntries(batches.map((batch) => [batch.join(), appsOf(batch)])),
        is: { ids: batches.flat() },
      },
    ],
    [
      'asks for each id that was left out alone before it counts as missing',
      {
        selectors: byIds('1', '2', '3', '4'),
        script: { '1,2,3,4': appsOf(['3']), 1: appsOf(['1']), 2: appsOf([]), 4: notFound },
        is: { ids: ['3', '1'], pendingIds: [] },
      },
    ],
    [
      'never asks for an id that is not a number',
      {
        selectors: byIds('1', 'x/..', '１', '-1', '', '1\n'),
        script: { 1: appsOf(['1']) },
        is: { ids: ['1'] },
      },
    ],
    ...[[byName], [everything], [...byIds('1'), byName], []].map((selectors): [string, Case] => [
      `reads the list of the whole account: ${selectors.map(({ kind }) => kind).join()}`,
      { selectors, script: { list: appsOf(['1', '2']) }, is: { ids: ['1', '2'] } },
    ]),
    [
      'reads all pages, also after an empty one; of an application on two pages the first counts',
      {
        script: {
          list: appsOf(['1', '2'], nextPage(2)),
          'list 2': appsOf([], nextPage(3)),
          'list 3': renamed,
        },
        is: { names: ['app 1', 'app 2', 'app 3'] },
      },
    ],
    [
      'reads on through pages of which only the ids can be read',
      {
        script: { list: nameless(1, 2), 'list 2': nameless(2, 3), 'list 3': appsOf(['3']) },
        is: { ids: ['3'], unreadableIds: ['1', '2'] },
      },
    ],
    [
      'asks for known applications that a list of several pages left out',
      {
        script: { ...twoPages, '4,5': appsOf(['4']) },
        known: ['1', '4', '5'],
        is: { ids: ['1', '2', '4'] },
      },
    ],
    [
      'finds out which of several known applications is the reason for a 404',
      {
        script: {
          ...twoPages,
          '4,5,6,7': notFound,
          '4,5': notFound,
          '6,7': appsOf(['6', '7']),
          4: appsOf(['4']),
          5: notFound,
        },
        known: ['4', '5', '6', '7'],
        is: { ids: ['1', '2', '4', '6', '7'] },
      },
    ],
    [
      'trusts a list of one page that has half of the known ones',
      { script: { list: appsOf(['1']) }, known: ['1', '4'], is: { ids: ['1'] } },
    ],
    ...[appsOf([]), notFound].map((answer): [string, Case] => [
      `trusts an empty list if a known application is not there either: ${answer.status}`,
      { script: { list: appsOf([]), 1: answer }, known: ['1'], is: { ids: [], pendingIds: [] } },
    ]),
  ])('%s', async (_, { selectors = [byName], script, known, is }) => {
    expect(await discover(selectors, script, known)).toMatchObject({ complete: true, ...is });
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

describe('an incomplete discovery', () => {
  const leftOut =
    'the list left out most of the known applications, but at least 1 of them are still there';

  it.each<[string, Case & { readonly reason: FailureReason; readonly says?: string }]>([
    [
      'keeps what was read before the page that failed, and asks for no single ids',
      {
        selectors: [byName, ...byIds('9')],
        script: { list: appsOf(['1'], nextPage(2)), 'list 2': answerOf('<html>') },
        is: { ids: ['1'], pendingIds: ['9'] },
        reason: 'not_json',
      },
    ],
    [
      'goes on with the other ids after a failure of the vendor',
      {
        selectors: byIds(...many),
        script: { [firstBatch]: serverError, 201: appsOf(['201']) },
        is: { ids: ['201'] },
        reason: 'server',
      },
    ],
    [
      'goes on with the other known applications, too',
      {
        script: {
          ...twoPages,
          [idsFrom(10, 200).join()]: serverError,
          [idsFrom(210, 50).join()]: appsOf(['210']),
        },
        known: idsFrom(10, 250),
        is: { ids: ['1', '2', '210'] },
        reason: 'server',
      },
    ],
    ...[[], ['1']].map((listed): [string, Case & { reason: FailureReason; says: string }] => [
      `is one whose list of one page has ${listed.length} of three, of which another is still there`,
      {
        script: {
          list: appsOf(listed),
          [['1', '2', '3'].filter((id) => !listed.includes(id)).join()]: appsOf(['3']),
        },
        known: ['1', '2', '3'],
        is: { ids: [...listed, '3'] },
        reason: 'server',
        says: leftOut,
      },
    ]),
  ])('%s', async (_, { selectors = [byName], script, known, is, reason, says = '' }) => {
    const found = await discover(selectors, script, known);

    expect(found).toMatchObject({ ...is, error: { reason } });
    expect(found.error?.message).toContain(says);
  });

  it.each<{ reason: FailureReason; calls: number }>([
    ...(['auth', 'dns', 'connect', 'tls', 'throttled', 'redirect'] as const).map((reason) => ({
      reason,
      calls: 1,
    })),
    ...(['timeout', 'reset'] as const).map((reason) => ({ reason, calls: 2 })),
  ])('makes $calls calls of two when the first fails by $reason', async ({ reason, calls }) => {
    const failure = new ApiError(reason, 'no answer');
    const others = calls === 1 ? {} : { 201: appsOf(['201']) };

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

  it('by a deadline keeps what was read, and has the deadline as its error', async () => {
    const answer: Transport = async (_, signal) => {
      signal.throwIfAborted();
      return appsOf(['1', '2'], nextPage(2));
    };
    const selectors = [byName, ...byIds('8')];
    const found = await abortedIn(2, deadline, async (_, ...asked) => answer(...asked), selectors, [
      '5',
    ]);

    expect(found).toMatchObject({ complete: false, calls: 2, pendingIds: ['8'] });
    expect(found.applications.map(({ id }) => id)).toEqual(['1', '2']);
    expect(found.error).toBe(deadline);
  });

  it('by a deadline asks nothing more, and is the error even if a call had failed before', async () => {
    const answer = async (call: number) => (call === 1 ? serverError : appsOf(['201']));
    const found = await abortedIn(2, deadline, answer, byIds(...idsFrom(1, 601)));

    expect(found).toMatchObject({ applications: [{ id: '201' }], complete: false, calls: 2 });
    expect(found.error).toBe(deadline);
  });

  it.each<[string, Parameters<typeof abortedIn>[2]]>([
    ['though the call ended otherwise', async () => Promise.reject(deadline)],
    ['between two calls', async () => appsOf(['1'])],
  ])('for another reason rejects with that, %s', async (_, answer) => {
    await expect(abortedIn(1, stopped, answer, byIds('1', '2'))).rejects.toBe(stopped);
  });

  it('is not what a bug of this program is, which rejects', async () => {
    const mistake = new TypeError('undefined is not a function');

    await expect(discover([byName], { list: mistake })).rejects.toBe(mistake);
  });
});
