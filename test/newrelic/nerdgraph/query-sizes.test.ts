import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason, failureReasons } from '../../../src/model/api-error.ts';
import { queriesOf } from '../../../src/newrelic/nerdgraph/query-plan.ts';
import {
  type Division,
  type EndedQuery,
  QuerySizes,
  undivided,
} from '../../../src/newrelic/nerdgraph/query-sizes.ts';
import { aSelected } from '../../support/builders.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const minuteMs = 60_000;
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

function aBench() {
  const clock = createFakeClock();
  const sizes = new QuerySizes(clock);
  const told: Division[] = [];
  const stop = sizes.onChange(() => told.push(sizes.divisionOf('1')));
  return { clock, sizes, told, stop };
}

describe('a query that fails beside others', () => {
  it.each([
    { count: 10, polls: [10, 3, 1, 1] },
    { count: 200, polls: [200, 50, 13, 4, 1, 1] },
  ])(
    'of $count applications is divided between polls until the bad one stands alone',
    ({ count, polls }) => {
      const { sizes } = aBench();
      const batch = Array.from({ length: count }, (_, index) => ({
        selected: aSelected({ id: `${index + 1}` }, { hosts: false }),
      }));
      const together = polls.map(() => {
        const queries = queriesOf(batch, (id) => sizes.divisionOf(id));
        const ended = queries.map((query) =>
          query.applicationIds.includes('7')
            ? failed(query.applicationIds)
            : { ...query, error: undefined },
        );
        sizes.ended([answered, ...ended]);
        return queries.find(({ applicationIds }) => applicationIds.includes('7'));
      });

      expect(together.map((query) => query?.applicationIds.length)).toEqual(polls);
    },
  );

  it.each(failureReasons)('for the reason %s', (reason) => {
    const { sizes } = aBench();
    const mayDivide = ['too_large', 'timeout', 'server', 'client', 'schema', 'not_json'];
    sizes.ended([answered, because(reason)]);

    expect(sizes.divisionOf('1').together).toBe(mayDivide.includes(reason) ? 2 : 200);
  });

  it('about the hosts of one application has four times the parts, up to 64', () => {
    const { sizes, told } = aBench();
    const parts = [1, 4, 16, 64].map((before) => {
      sizes.ended([answered, failed(['1'], { ...tooMuch, parts: before })]);
      return sizes.divisionOf('1').parts;
    });

    expect(parts).toEqual([4, 16, 64, 64]);
    expect(told).toHaveLength(3);
    expect(sizes.divisionOf('1').together).toBe(undivided.together);
  });

  it('beside others about the same is divided once, by the smallest of them', () => {
    const { sizes } = aBench();
    const part = failed(['1'], { ...tooMuch, parts: 4 });
    sizes.ended([
      answered,
      part,
      part,
      failed(['2', '3', '4', '5']),
      failed(['2', '6', '7', '8', '9']),
    ]);

    expect(['1', '2', '3', '6'].map((id) => sizes.divisionOf(id))).toMatchObject([
      { together: 200, parts: 16 },
      { together: 1, parts: 1 },
      { together: 1, parts: 1 },
      { together: 2, parts: 1 },
    ]);
  });

  it.each([
    { what: 'nothing but one application', query: failed(['1'], { error: tooMuch.error }) },
    {
      what: 'its hosts, for another reason than size,',
      query: failed(['1'], { subject: 'hosts' }),
    },
  ])('about $what stays as it is', ({ query }) => {
    const { sizes, told } = aBench();
    sizes.ended([answered, query]);

    expect([sizes.divisionOf('1'), told]).toEqual([undivided, []]);
  });
});

describe('while nothing of a batch is answered', () => {
  it('is divided once, and no further', () => {
    const { sizes, told } = aBench();
    sizes.ended([failed(['1', '2', '3', '4', '5'])]);
    sizes.ended([failed(['1', '2']), failed(['3', '4']), failed(['5'])]);
    expect(told.map(({ together }) => together)).toEqual([2]);

    sizes.ended([failed(['1', '2']), { ...answered, applicationIds: ['3', '4'] }]);
    expect([sizes.divisionOf('1').together, sizes.divisionOf('3').together]).toEqual([1, 2]);
  });
});

describe('a division', () => {
  it('is taken back in steps, ten minutes without a failure each', async () => {
    const { clock, sizes } = aBench();
    const well = { ...answered, applicationIds: ['1'] };
    const ten = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'];
    sizes.ended([answered, failed(ten)]);
    sizes.ended([answered, failed(['1'], { ...tooMuch, parts: 4 })]);
    const seen: Division[] = [];
    for (let step = 0; step < 4; step += 1) {
      await clock.advance(10 * minuteMs - 1);
      sizes.ended([well]);
      seen.push(sizes.divisionOf('1'));
      await clock.advance(1);
      sizes.ended([well]);
    }

    expect(seen).toMatchObject([
      { together: 3, parts: 16 },
      { together: 12, parts: 4 },
      { together: 48, parts: 1 },
      { together: 192, parts: 1 },
    ]);
    expect(sizes.divisionOf('1')).toEqual(undivided);
    expect(sizes.divisionOf('2').together).toBe(3);
  });

  it.each([
    {
      what: 'one of its queries',
      queries: [{ ...answered, applicationIds: ['1'] }, failed(['1'])],
    },
    { what: 'everything', queries: [failed(['1', '2', '3'])] },
  ])('stays while $what fails', async ({ queries }) => {
    const { clock, sizes } = aBench();
    sizes.ended([answered, failed(['1', '2', '3', '4', '5'])]);
    await clock.advance(60 * minuteMs);
    sizes.ended(queries);

    expect(sizes.divisionOf('1').together).toBe(2);
  });

  it('is told to listeners when it changes, until they stop listening', async () => {
    const { clock, sizes, told, stop } = aBench();
    sizes.ended([{ ...answered, applicationIds: ['1'] }]);
    expect(told).toEqual([]);
    sizes.ended([answered, failed(['1', '2', '3', '4', '5'])]);
    await clock.advance(10 * minuteMs);
    sizes.ended([{ ...answered, applicationIds: ['1'] }]);
    stop();
    sizes.ended([answered, failed(['1', '2'])]);

    expect(told.map(({ together }) => together)).toEqual([2, 8]);
  });
});
