import { describe, expect, it } from 'vitest';
import { answerOf } from '../support/fake-transport.ts';
import {
  appsOf,
  byIds,
  byName,
  discover,
  filtered,
  list,
  nextPage,
  noKey,
  serverError,
} from './a-discovery.ts';
import { aRestSource } from './a-rest-source.ts';

describe('a discovery of applications that are known already', () => {
  it('asks for known applications that a list of several pages left out', async () => {
    const found = await discover(
      [byName],
      {
        [list]: appsOf(['1', '2'], nextPage),
        [`${list}?page=2`]: appsOf(['2', '3']),
        [filtered('4', '5')]: appsOf(['4']),
      },
      ['1', '4', '5'],
    );

    expect(found).toMatchObject({ ids: ['1', '2', '3', '4'], complete: true, calls: 3 });
  });

  it('asks once for an id that is both known and configured', async () => {
    const found = await discover(
      [byName, ...byIds('4')],
      {
        [list]: appsOf(['1'], nextPage),
        [`${list}?page=2`]: appsOf(['2']),
        [filtered('5')]: appsOf([]),
        [filtered('4')]: appsOf([]),
      },
      ['4', '5', '5'],
    );

    expect(found).toMatchObject({ ids: ['1', '2'], complete: true, calls: 4 });
  });

  it('asks for 200 known applications in a call', async () => {
    const knownIds = Array.from({ length: 250 }, (_, index) => String(index + 10));

    const found = await discover(
      [byName],
      {
        [list]: appsOf(['1'], nextPage),
        [`${list}?page=2`]: appsOf(['2']),
        [filtered(...knownIds.slice(0, 200))]: appsOf(['10']),
        [filtered(...knownIds.slice(200))]: appsOf([]),
      },
      knownIds,
    );

    expect(found).toMatchObject({ ids: ['1', '2', '10'], complete: true, calls: 4 });
  });

  it('is not complete when asking for known applications fails', async () => {
    const found = await discover(
      [byName],
      {
        [list]: appsOf(['1'], nextPage),
        [`${list}?page=2`]: appsOf(['2']),
        [filtered('4')]: serverError,
      },
      ['4'],
    );

    expect(found).toMatchObject({ ids: ['1', '2'], complete: false, error: { reason: 'server' } });
  });

  it('ends incomplete when asking for many of them fails', async () => {
    const knownIds = Array.from({ length: 250 }, (_, index) => String(index + 10));

    const found = await discover(
      [byName],
      {
        [list]: appsOf(['1'], nextPage),
        [`${list}?page=2`]: appsOf(['2']),
        [filtered(...knownIds.slice(0, 200))]: serverError,
      },
      knownIds,
    );

    expect(found).toMatchObject({ complete: false, calls: 3, error: { reason: 'server' } });
  });

  it('finds out which of several known applications is the reason for a 404', async () => {
    const notFound = answerOf('{}', { status: 404 });

    const found = await discover(
      [byName],
      {
        [list]: appsOf(['1'], nextPage),
        [`${list}?page=2`]: appsOf(['2']),
        [filtered('4', '5', '6', '7')]: notFound,
        [filtered('4', '5')]: notFound,
        [filtered('6', '7')]: appsOf(['6', '7']),
        [filtered('4')]: appsOf(['4']),
        [filtered('5')]: notFound,
      },
      ['4', '5', '6', '7'],
    );

    expect(found).toMatchObject({ ids: ['1', '2', '6', '7', '4'], complete: true, calls: 7 });
  });

  it('does not go on looking for the reason when nothing but 404 comes back', async () => {
    const known = Array.from({ length: 200 }, (_, index) => String(index + 10));
    const { source, signal } = aRestSource(async ({ target }) => {
      if (target.includes('ids')) return answerOf('{}', { status: 404 });
      return target.includes('page=2') ? appsOf(['2']) : appsOf(['1'], nextPage);
    });

    const found = await source.discover([byName], known, signal);

    expect(found).toMatchObject({ complete: false, error: { reason: 'not_found' } });
    expect(found.calls).toBeLessThanOrEqual(3 + 48);
  });

  it('takes 404 for one known application for its absence', async () => {
    const found = await discover(
      [byName],
      {
        [list]: appsOf(['1'], nextPage),
        [`${list}?page=2`]: appsOf(['2']),
        [filtered('4')]: answerOf('{}', { status: 404 }),
      },
      ['4'],
    );

    expect(found).toMatchObject({ ids: ['1', '2'], complete: true, calls: 3 });
  });

  it('asks for nothing more when the key is refused while asking for known applications', async () => {
    const found = await discover(
      [byName, ...byIds('9')],
      {
        [list]: appsOf(['1'], nextPage),
        [`${list}?page=2`]: appsOf(['2']),
        [filtered('4')]: noKey,
      },
      ['4'],
    );

    expect(found).toMatchObject({ complete: false, calls: 3, error: { reason: 'auth' } });
  });

  it('believes a list of one page', async () => {
    const found = await discover([byName], { [list]: appsOf(['1']) }, ['1', '4']);

    expect(found).toMatchObject({ ids: ['1'], complete: true, calls: 1 });
  });

  it('asks for no known application that is not configured', async () => {
    const found = await discover(
      byIds('1', '2'),
      {
        [filtered('1', '2')]: appsOf(['1'], nextPage),
        [`${filtered('1', '2')}&page=2`]: appsOf(['2']),
      },
      ['1', '7'],
    );

    expect(found).toMatchObject({ ids: ['1', '2'], complete: true, calls: 2 });
  });
});
