import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason, failureReasons } from '../../../src/model/api-error.ts';
import { minuteMs } from '../../../src/model/time.ts';
import type { Subject } from '../../../src/newrelic/nerdgraph/column-sets.ts';
import {
  type Division,
  type PlannedQuery,
  queriesOf,
  undivided,
} from '../../../src/newrelic/nerdgraph/query-plan.ts';
import { type EndedQuery, QuerySizes } from '../../../src/newrelic/nerdgraph/query-sizes.ts';
import { aSelected } from '../../support/builders.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { broken, refused } from './a-poll.ts';

const answered: EndedQuery = {
  subject: 'applications',
  applicationIds: ['900'],
  parts: 1,
  error: undefined,
};

function failed(ids: readonly string[], overrides: Partial<EndedQuery> = {}): EndedQuery {
  const error = new ApiError('server', 'it broke');
  return { subject: 'applications', applicationIds: ids, parts: 1, error, ...overrides };
}

const tooMuch = { subject: 'hosts', error: new ApiError('too_large', 'it took too long') } as const;

function because(reason: FailureReason): EndedQuery {
  return failed(['1', '2', '3', '4', '5'], { error: new ApiError(reason, 'it failed') });
}

function aBench(subject: Subject = 'applications') {
  const clock = createFakeClock();
  const sizes = new QuerySizes(clock);
  const divisionOf = (id: string): Division => sizes.divisionOf(subject, id);
  return { clock, sizes, divisionOf };
}

/** Polls these applications; `isBad` tells which queries about them fail. Returns the queries. */
function poll(
  sizes: QuerySizes,
  count: number,
  isBad: (applicationIds: readonly string[]) => boolean,
): readonly PlannedQuery[] {
  const batch = Array.from({ length: count }, (_, index) => ({
    selected: aSelected({ id: `${index + 1}` }, { hosts: false }),
  }));
  const queries = queriesOf(batch, (subject, id) => sizes.divisionOf(subject, id));
  const ended = queries.map(
    (query): EndedQuery =>
      isBad(query.applicationIds) ? failed(query.applicationIds) : { ...query, error: undefined },
  );
  sizes.ended(ended);
  return queries;
}

describe('a query that fails', () => {
  it.each([
    { count: 10, together: [10, 3, 1, 1], calls: [1, 4, 5, 4] },
    { count: 200, together: [200, 67, 22, 7, 1, 1], calls: [1, 4, 6, 8, 10, 9] },
  ])(
    'of $count applications is divided until the bad one stands alone, with a dozen more calls',
    ({ count, together, calls }) => {
      const { sizes } = aBench();
      const polls = calls.map(() => poll(sizes, count, (ids) => ids.includes('7')));
      const bad = polls.map((all) =>
        all.find(({ applicationIds }) => applicationIds.includes('7')),
      );

      expect(bad.map((query) => query?.applicationIds.length)).toEqual(together);
      expect(polls.map(({ length }) => length)).toEqual(calls);
    },
  );

  it('costs a dozen more calls at most, whichever application is the bad one', () => {
    const most = Array.from({ length: 200 }, (_, index) => {
      const { sizes } = aBench();
      const polls = [1, 2, 3, 4, 5, 6, 7].map(() =>
        poll(sizes, 200, (ids) => ids.includes(`${index + 1}`)),
      );
      return Math.max(...polls.map(({ length }) => length));
    });

    expect(Math.max(...most)).toBeLessThanOrEqual(13);
  });

  it.each(failureReasons)('for the reason %s', (reason) => {
    const { sizes, divisionOf } = aBench();
    const mayDivide = ['too_large', 'timeout', 'server', 'client', 'schema', 'not_json'];
    sizes.ended([answered, because(reason)]);

    expect(divisionOf('1').together).toBe(mayDivide.includes(reason) ? 2 : 200);
  });

  it('about hosts divides none about applications', () => {
    const { sizes, divisionOf } = aBench();
    sizes.ended([answered, failed(['1', '2', '3', '4', '5'], { subject: 'hosts' })]);

    expect(divisionOf('1')).toEqual(undivided);
    expect(sizes.divisionOf('hosts', '1').together).toBe(2);
  });

  it('about the hosts of one application has four times the parts, up to 64, while some are answered', () => {
    const { sizes, divisionOf } = aBench('hosts');
    const parts = [1, 4, 16, 64].map((before) => {
      const part = failed(['1'], { ...tooMuch, parts: before });
      sizes.ended(
        [{ ...part, applicationIds: ['1'], error: undefined }, part].slice(before > 1 ? 0 : 1),
      );
      return divisionOf('1').parts;
    });

    expect(parts).toEqual([4, 16, 64, 64]);
    expect(sizes.changes).toBe(3);
    expect(divisionOf('1').together).toBe(undivided.together);
  });

  it.each([
    { what: 'nothing but one application', query: failed(['1'], { error: tooMuch.error }) },
    {
      what: 'its hosts, for another reason than size,',
      query: failed(['1'], { subject: 'hosts' }),
    },
  ])('about $what stays as it is', ({ query }) => {
    const { sizes, divisionOf } = aBench(query.subject);
    sizes.ended([answered, query]);

    expect([divisionOf('1'), sizes.changes]).toEqual([undivided, 0]);
  });
});

describe('a division that helps nobody', () => {
  it.each([
    { what: 'server', error: broken },
    { what: 'an answer that is not whole', error: new ApiError('schema', 'not whole') },
    { what: 'an answer that is cut off', error: new ApiError('too_large', 'cut off') },
  ])('is taken back at once, and not tried again for ten minutes: $what', async ({ error }) => {
    const { clock, sizes, divisionOf } = aBench();
    const ids = ['1', '2', '3', '4', '5'];
    const pieces = [['1', '2'], ['3', '4'], ['5']];
    sizes.ended([failed(ids, { error })]);
    sizes.ended(pieces.map((some) => failed(some, { error })));
    await clock.advance(10 * minuteMs - 1);
    sizes.ended([failed(ids, { error })]);
    expect([divisionOf('1'), sizes.changes]).toMatchObject([undivided, 2]);

    await clock.advance(1);
    sizes.ended([failed(ids, { error })]);
    expect(divisionOf('1').together).toBe(2);
  });

  it('is tried again before, once its query was answered', () => {
    const { sizes, divisionOf } = aBench();
    const ids = ['1', '2', '3', '4', '5'];
    sizes.ended([failed(ids)]);
    sizes.ended([failed(['1', '2']), failed(['3', '4', '5'])]);
    sizes.ended([{ ...answered, applicationIds: ids }]);
    sizes.ended([failed(ids)]);

    expect(divisionOf('1').together).toBe(2);
  });

  it('is one whose pieces all fail because of the same of their metrics', () => {
    const { sizes, divisionOf } = aBench();
    const ended = (applicationIds: readonly string[]): readonly EndedQuery[] => [
      { ...answered, applicationIds },
      failed(applicationIds),
    ];
    sizes.ended(ended(['1', '2', '3']));
    sizes.ended([...ended(['1']), ...ended(['2']), ...ended(['3'])]);

    expect([divisionOf('1'), sizes.changes]).toMatchObject([undivided, 2]);
  });

  it('says nothing if the account was refused meanwhile', () => {
    const { sizes, divisionOf } = aBench();
    sizes.ended([failed(['1', '2', '3', '4', '5'])]);
    sizes.ended([failed(['1', '2']), failed(['3', '4', '5'], { error: refused })]);

    expect(divisionOf('1').together).toBe(2);
  });
});

describe('a division of which only one application was asked for again', () => {
  it('is not judged by that one, which may be the one that spoils the others', () => {
    const { sizes, divisionOf } = aBench();
    poll(sizes, 200, () => true);
    const divided = divisionOf('1');

    sizes.ended([failed(['77'])]);

    expect(divided.together).toBeLessThan(200);
    expect(divisionOf('1').together).toBe(divided.together);
  });
});

describe('a division of which every quarter fails', () => {
  it('goes on because one application alone was answered: each quarter has bad ones', () => {
    const { sizes, divisionOf } = aBench();
    const bad = Array.from({ length: 20 }, (_, index) => `${10 * index + 5}`);
    for (let left = 5; left > 0; left -= 1) {
      poll(sizes, 200, (ids) => ids.some((id) => bad.includes(id)));
    }

    expect(bad.map((id) => divisionOf(id).together)).toEqual(bad.map(() => 1));
  });

  it.each([2, 3, 5])('ends where %i applications are too many, and stays there', (tooMany) => {
    const { sizes } = aBench();
    const polls = [1, 2, 3, 4, 5, 6].map(() =>
      poll(sizes, tooMany, (ids) => ids.length >= tooMany),
    );

    expect(polls.slice(1).map((queries) => queries.length)).not.toContain(1);
  });

  it('goes on until the queries are small enough', () => {
    const { sizes } = aBench();
    const polls = [1, 2, 3, 4].map(() => poll(sizes, 200, (ids) => ids.length > 12));

    expect(polls.map((queries) => queries.length)).toEqual([1, 4, 13, 38]);
    expect(
      Math.max(...(polls.at(-1) ?? []).map(({ applicationIds }) => applicationIds.length)),
    ).toBeLessThanOrEqual(12);
  });
});

describe('while nothing of a batch is answered', () => {
  it('only one query is divided further', () => {
    const { sizes, divisionOf } = aBench();
    sizes.ended([failed(['1', '2', '3', '4', '5'])]);
    sizes.ended([failed(['1', '2']), { ...answered, applicationIds: ['3', '4'] }]);
    const helped = ['1', '3', '5'].map((id) => divisionOf(id).together);
    sizes.ended([failed(['1']), failed(['2']), failed(['3', '4']), failed(['5'])]);

    expect(helped).toEqual([1, 3, 1]);
    expect(['1', '3', '5'].map((id) => divisionOf(id).together)).toEqual([2, 1, 1]);
  });
});

describe('a division', () => {
  it('is taken back in steps, ten minutes without a failure each', async () => {
    const { clock, sizes, divisionOf } = aBench('hosts');
    const well = { ...answered, subject: 'hosts', applicationIds: ['1'] } as const;
    const ten = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'];
    sizes.ended([failed(ten, { subject: 'hosts' })]);
    sizes.ended([well, failed(['1'], { ...tooMuch, parts: 4 })]);
    const seen: Division[] = [];
    for (let step = 0; step < 4; step += 1) {
      await clock.advance(10 * minuteMs - 1);
      sizes.ended([well]);
      seen.push(divisionOf('1'));
      await clock.advance(1);
      sizes.ended([well]);
    }

    expect(seen).toMatchObject([
      { together: 3, parts: 16 },
      { together: 12, parts: 4 },
      { together: 48, parts: 1 },
      { together: 192, parts: 1 },
    ]);
    expect(divisionOf('1')).toEqual(undivided);
    expect(divisionOf('2').together).toBe(3);
  });

  it.each([
    {
      what: 'one of its queries',
      queries: [{ ...answered, applicationIds: ['1'] }, failed(['1'])],
    },
    { what: 'everything', queries: [failed(['1', '2', '3'], { error: refused })] },
  ])('that has helped stays while $what fails', async ({ queries }) => {
    const { clock, sizes, divisionOf } = aBench();
    sizes.ended([answered, failed(['1', '2', '3', '4', '5'])]);
    sizes.ended([{ ...answered, applicationIds: ['1', '2'] }]);
    await clock.advance(60 * minuteMs);
    sizes.ended(queries);

    expect(divisionOf('1').together).toBe(3);
  });

  it('is counted as a change when it changes', async () => {
    const { clock, sizes } = aBench();
    const changes: number[] = [];
    const end = (...queries: readonly EndedQuery[]): void => {
      sizes.ended(queries);
      changes.push(sizes.changes);
    };
    end({ ...answered, applicationIds: ['1'] });
    end(answered, failed(['1', '2', '3', '4', '5']));
    end({ ...answered, applicationIds: ['1'] });
    await clock.advance(10 * minuteMs);
    end({ ...answered, applicationIds: ['1'] });
    end({ ...answered, applicationIds: ['1'] });

    expect(changes).toEqual([0, 1, 2, 3, 3]);
  });
});
