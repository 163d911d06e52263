import { describe, expect, it } from 'vitest';
import { answerOf } from '../../support/fake-transport.ts';
import { appsOf, byName, discover, filtered, list, nextPage, serverError } from './a-discovery.ts';

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

  it('is incomplete when asking for some of them fails, and goes on with the others', async () => {
    const knownIds = Array.from({ length: 250 }, (_, index) => String(index + 10));

    const found = await discover(
      [byName],
      {
        [list]: appsOf(['1'], nextPage),
        [`${list}?page=2`]: appsOf(['2']),
        [filtered(...knownIds.slice(0, 200))]: serverError,
        [filtered(...knownIds.slice(200))]: appsOf(['210']),
      },
      knownIds,
    );

    expect(found).toMatchObject({ complete: false, calls: 4, error: { reason: 'server' } });
    expect(found.ids).toContain('210');
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

    expect(found).toMatchObject({ ids: ['1', '2', '4', '6', '7'], complete: true, calls: 7 });
  });

  it('trusts a list of one page that has half of them', async () => {
    const found = await discover([byName], { [list]: appsOf(['1']) }, ['1', '4']);

    expect(found).toMatchObject({ ids: ['1'], complete: true, calls: 1 });
  });
});

describe('a list of one page without most of the known applications', () => {
  const known = ['1', '2', '3'];

  it.each([
    { what: 'nothing', listed: [] },
    { what: 'one of three', listed: ['1'] },
  ])('($what) is incomplete if one of the others is still there', async ({ listed }) => {
    const lost = known.filter((id) => !listed.includes(id));

    const found = await discover(
      [byName],
      { [list]: appsOf(listed), [filtered(...lost)]: appsOf(['3']) },
      known,
    );

    expect(found).toMatchObject({ ids: [...listed, '3'], complete: false, calls: 2 });
    expect(found.error).toMatchObject({ reason: 'server' });
    expect(found.error?.message).toContain(
      'the list left out most of the known applications, but at least 1 of them are still there',
    );
  });

  it.each([
    { what: 'an empty list', answer: appsOf([]), calls: 2 },
    { what: '404', answer: answerOf('{}', { status: 404 }), calls: 2 },
  ])('is true if none of them is there: $what', async ({ answer, calls }) => {
    const found = await discover([byName], { [list]: appsOf([]), [filtered('1')]: answer }, ['1']);

    expect(found).toMatchObject({ ids: [], complete: true, pendingIds: [], calls });
  });
});
