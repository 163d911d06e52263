import { describe, expect, it } from 'vitest';
import { discoveryOf, listOf } from './an-application-list.ts';

describe('a part of the list that cannot be read', () => {
  const good = { id: 1, name: 'good' };

  it.each([
    { what: 'null', element: null, says: 'element 1 of the list' },
    { what: 'a text', element: 'x', says: 'element 1 of the list' },
    { what: 'no id', element: { name: 'a' }, says: 'no numeric id' },
    { what: 'an id that is no number', element: { id: 'a1', name: 'a' }, says: 'no numeric id' },
    { what: 'a negative id', element: { id: -1, name: 'a' }, says: 'no numeric id' },
    { what: 'a fraction for an id', element: { id: 1.5, name: 'a' }, says: 'no numeric id' },
  ])('($what) is left out and named, and the others stay', async ({ element, says }) => {
    const discovery = await listOf(good, element, { ...good, id: 3 });

    expect(discovery.applications.map(({ id }) => id)).toEqual(['1', '3']);
    expect(discovery.complete).toBe(false);
    expect(discovery.error).toMatchObject({ name: 'ApiError', reason: 'schema' });
    expect(discovery.error?.message).toContain('parts of the list were left out (1), the first: ');
    expect(discovery.error?.message).toContain(says);
    expect(discovery.logged).toEqual([{ problem: expect.stringContaining(says) }]);
  });

  it.each([
    { what: 'no name', element: { id: 2 } },
    { what: 'a name of another type', element: { id: 2, name: {} } },
  ])(
    '($what) keeps what is known of it, and the list is whole all the same',
    async ({ element }) => {
      const discovery = await listOf(good, element, { ...good, id: 3 });

      expect(discovery.applications.map(({ id }) => id)).toEqual(['1', '3']);
      expect(discovery).toMatchObject({ complete: true, unreadableIds: ['2'], error: undefined });
      expect(discovery.logged).toEqual([{ problem: 'application 2: no name' }]);
    },
  );

  it('may be a single host id', async () => {
    const links = { application_hosts: [5, 'x', null, 93.5, 6], application_instances: [{}] };

    const discovery = await listOf({ ...good, links });

    expect(discovery.applications).toMatchObject([{ hostIds: ['5', '6'], instanceIds: [] }]);
    expect(discovery).toMatchObject({ complete: true, unreadableIds: [] });
    expect(discovery.logged).toMatchObject([
      { problem: 'application 1: host ids that are not numbers: 3' },
      { problem: 'application 1: instance ids that are not numbers: 1' },
    ]);
  });

  it('is named by the error only if its id cannot be read', async () => {
    const discovery = await listOf({ id: 2 }, null);

    expect(discovery.error?.message).toContain(
      'parts of the list were left out (1), the first: element 1 of the list',
    );
  });

  it('is not among the unreadable ones when it stands in the list a second time', async () => {
    const discovery = await listOf({ id: 1 }, good);

    expect(discovery).toMatchObject({ applications: [{ id: '1' }], unreadableIds: [] });
  });

  it.each([{ body: {} }, { body: { applications: null } }, { body: { applications: {} } }])(
    'may be the whole list: $body',
    async ({ body }) => {
      const discovery = await discoveryOf(body);

      expect(discovery).toMatchObject({ applications: [], complete: false });
      expect(discovery.error?.message).toMatch(/^list_applications: .* no list of applications\./);
    },
  );
});
