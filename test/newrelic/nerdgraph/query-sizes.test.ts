import { describe, expect, it } from 'vitest';
import { ApiError, failureReasons } from '../../../src/model/api-error.ts';
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

const broken = new ApiError('server', 'it broke');
const refused = new ApiError('auth', 'refused', { status: 401 });
const tooMuch = { subject: 'hosts', error: new ApiError('too_large', 'it took too long') } as const;

/** A query about these applications, such as `1 2 3`, that was answered. */
function well(ids: string, overrides: Partial<EndedQuery> = {}): EndedQuery {
  const applicationIds = ids.split(' ');
  return { subject: 'applications', applicationIds, parts: 1, error: undefined, ...overrides };
}

function failed(ids: string, overrides: Partial<EndedQuery> = {}): EndedQuery {
  return well(ids, { error: broken, ...overrides });
}

const group = Array.from({ length: 200 }, (_, index) => ({
  selected: aSelected({ id: `${index + 1}` }, { hosts: false }),
}));

const five = '1 2 3 4 5';
/** Of other applications: New Relic answers. */
const answered = well('900');

function aBench(subject: Subject = 'applications') {
  const clock = createFakeClock();
  const sizes = new QuerySizes(clock);
  const divisionOf = (id: string): Division => sizes.divisionOf(subject, id);
  const together = (...ids: readonly string[]) => ids.map((id) => divisionOf(id).together);
  /** All queries of a poll end. */
  const end = (...queries: readonly EndedQuery[]): void => sizes.ended(queries);
  /** Polls so many applications, 200 at most; `isBad` tells which queries about them fail. Returns the queries. */
  const poll = (
    count: number,
    isBad: (ids: readonly string[]) => boolean,
  ): readonly PlannedQuery[] => {
    const queries = queriesOf(group.slice(0, count), sizes.divisionOf);
    const errorOf = (ids: readonly string[]) => (isBad(ids) ? broken : undefined);
    sizes.ended(queries.map((query) => ({ ...query, error: errorOf(query.applicationIds) })));
    return queries;
  };
  return { clock, sizes, divisionOf, together, end, poll };
}

describe('a query that fails', () => {
  it.each([
    { count: 10, together: [10, 3, 1, 1], calls: [1, 4, 5, 4] },
    { count: 200, together: [200, 67, 22, 7, 1, 1], calls: [1, 4, 6, 8, 10, 9] },
  ])(
    'of $count applications is divided until the bad one stands alone, with a dozen more calls',
    ({ count, together, calls }) => {
      const { poll } = aBench();
      const polls = calls.map(() => poll(count, (ids) => ids.includes('7')));
      const bad = polls.flatMap((all) =>
        all.flatMap(({ applicationIds: ids }) => (ids.includes('7') ? [ids.length] : [])),
      );

      expect([bad, polls.map(({ length }) => length)]).toEqual([together, calls]);
    },
  );

  it('costs a dozen more calls at most, whichever application is the bad one', () => {
    const most = Array.from({ length: 200 }, (_, index) => {
      const { poll } = aBench();
      const isBad = (ids: readonly string[]): boolean => ids.includes(`${index + 1}`);
      return Math.max(...[1, 2, 3, 4, 5, 6, 7].map(() => poll(200, isBad).length));
    });

    expect(Math.max(...most)).toBeLessThanOrEqual(13);
  });

  it.each(failureReasons)('is divided for a reason that its parts may have: %s', (reason) => {
    const { together, end } = aBench();
    const mayDivide = ['too_large', 'timeout', 'server', 'client', 'schema', 'not_json'];
    end(answered, failed(five, { error: new ApiError(reason, 'it failed') }));

    expect(together('1')).toEqual([mayDivide.includes(reason) ? 2 : 200]);
  });

  it('is not divided because a gateway failed: that says nothing about the query', () => {
    const { together, end } = aBench();
    end(answered, failed(five, { error: new ApiError('server', 'bad gateway', { status: 502 }) }));

    expect(together('1')).toEqual([undivided.together]);
  });

  it('about hosts divides none about applications', () => {
    const { sizes, divisionOf, end } = aBench();
    end(answered, failed(five, { subject: 'hosts' }));

    expect(divisionOf('1')).toEqual(undivided);
    expect(sizes.divisionOf('hosts', '1').together).toBe(2);
  });

  it('about the hosts of one application has four times the parts, up to 64, while some are answered', () => {
    const { sizes, divisionOf, end } = aBench('hosts');
    const parts = [1, 4, 16, 64].map((before) => {
      const part = { ...tooMuch, parts: before };
      const others = before > 1 ? [well('1', { ...part, error: undefined })] : [];
      end(...others, failed('1', part));
      return divisionOf('1').parts;
    });

    expect([parts, sizes.changes]).toEqual([[4, 16, 64, 64], 3]);
    expect(divisionOf('1').together).toBe(undivided.together);
  });

  it.each([
    ['nothing but one application', failed('1', { error: tooMuch.error })],
    ['its hosts, for another reason than size,', failed('1', { subject: 'hosts' })],
  ])('about %s stays as it is', (_, query) => {
    const { sizes, divisionOf, end } = aBench(query.subject);
    end(answered, query);

    expect([divisionOf('1'), sizes.changes]).toEqual([undivided, 0]);
  });
});

describe('a division that helps nobody', () => {
  it.each([broken, new ApiError('schema', 'not whole'), new ApiError('too_large', 'cut off')])(
    'is taken back at once, and not tried again for ten minutes: $reason',
    async (error) => {
      const { clock, sizes, together, end } = aBench();
      end(failed(five, { error }));
      end(...['1 2', '3 4', '5'].map((some) => failed(some, { error })));
      await clock.advance(10 * minuteMs - 1);
      end(failed(five, { error }));
      expect([together('1'), sizes.changes]).toEqual([[200], 2]);

      await clock.advance(1);
      end(failed(five, { error }));
      expect(together('1')).toEqual([2]);
    },
  );

  it.each<[string, readonly (readonly EndedQuery[])[], number]>([
    [
      'is tried again before, once its query was answered',
      [[failed('1 2'), failed('3 4 5')], [well(five)], [failed(five)]],
      2,
    ],
    [
      'is one whose pieces all fail because of the same of their metrics',
      [
        ['1 2', '3 4', '5']
          .map((ids) => well(ids))
          .flatMap((one) => [one, { ...one, error: broken }]),
      ],
      200,
    ],
    [
      'says nothing if the account was refused meanwhile',
      [[failed('1 2'), failed('3 4 5', { error: refused })]],
      2,
    ],
  ])('%s', (_, polls, is) => {
    const { together, end } = aBench();
    end(failed(five));
    for (const queries of polls) end(...queries);

    expect(together('1')).toEqual([is]);
  });
});

describe('a division', () => {
  it('is not judged by one application alone, which may be the one that spoils the others', () => {
    const { together, poll, end } = aBench();
    poll(200, () => true);
    const divided = together('1');
    end(failed('77'));

    expect(divided).not.toEqual([200]);
    expect(together('1')).toEqual(divided);
  });

  it('of which every quarter fails goes on because one application alone was answered', () => {
    const { together, poll } = aBench();
    const bad = Array.from({ length: 20 }, (_, index) => `${10 * index + 5}`);
    for (let left = 5; left > 0; left -= 1) poll(200, (ids) => ids.some((id) => bad.includes(id)));

    expect(new Set(together(...bad))).toEqual(new Set([1]));
  });

  it.each([2, 3, 5])('ends where %i applications are too many, and stays there', (tooMany) => {
    const { poll } = aBench();
    const polls = [1, 2, 3, 4, 5, 6].map(() => poll(tooMany, (ids) => ids.length >= tooMany));

    expect(polls.slice(1).map((queries) => queries.length)).not.toContain(1);
  });

  it('goes on until the queries are small enough', () => {
    const { poll } = aBench();
    const polls = [1, 2, 3, 4].map(() => poll(200, (ids) => ids.length > 12));
    const sizes = polls.at(-1)?.map(({ applicationIds }) => applicationIds.length) ?? [];

    expect(polls.map((queries) => queries.length)).toEqual([1, 4, 13, 38]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(12);
  });

  it('goes on in one query only while nothing of a poll is answered', () => {
    const { together, end } = aBench();
    end(failed(five));
    end(failed('1 2'), well('3 4'));
    const helped = together('1', '3', '5');
    end(failed('1'), failed('2'), failed('3 4'), failed('5'));

    expect([helped, together('1', '3', '5')]).toEqual([
      [1, 3, 1],
      [2, 1, 1],
    ]);
  });

  it('is taken back in steps, ten minutes without a failure each', async () => {
    const { clock, divisionOf, end } = aBench('hosts');
    const hosts = { subject: 'hosts' } as const;
    end(failed('1 2 3 4 5 6 7 8 9 10', hosts));
    end(well('1', hosts), failed('1', { ...tooMuch, parts: 4 }));
    const seen: Division[] = [];
    for (let step = 0; step < 4; step += 1) {
      await clock.advance(10 * minuteMs - 1);
      end(well('1', hosts));
      seen.push(divisionOf('1'));
      await clock.advance(1);
      end(well('1', hosts));
    }

    expect(seen.map(({ together, parts }) => [together, parts])).toEqual([
      [3, 16],
      [12, 4],
      [48, 1],
      [192, 1],
    ]);
    expect([divisionOf('1'), divisionOf('2').together]).toEqual([undivided, 3]);
  });

  it.each([
    ['one of its queries', [well('1'), failed('1')]],
    ['everything', [failed('1 2 3', { error: refused })]],
  ])('that has helped stays while %s fails', async (_, queries) => {
    const { clock, together, end } = aBench();
    end(answered, failed(five));
    end(well('1 2'));
    await clock.advance(60 * minuteMs);
    end(...queries);

    expect(together('1')).toEqual([3]);
  });

  it('is counted as a change when it changes', async () => {
    const { clock, sizes, end } = aBench();
    const changes: number[] = [];
    for (const queries of [[well('1')], [answered, failed(five)], [well('1')]]) {
      end(...queries);
      changes.push(sizes.changes);
    }
    await clock.advance(10 * minuteMs);
    for (let poll = 0; poll < 2; poll += 1) {
      end(well('1'));
      changes.push(sizes.changes);
    }

    expect(changes).toEqual([0, 1, 2, 3, 3]);
  });
});
