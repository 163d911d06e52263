import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectApplications, selectorText, selects } from '../../src/model/selector.ts';
import { anApplication, anEntry } from '../support/builders.ts';

const byId = (id: string): ReturnType<typeof anEntry> => anEntry({ selector: { kind: 'id', id } });
const byName = (name: string): ReturnType<typeof anEntry> =>
  anEntry({ selector: { kind: 'name', name } });
const byMatch = (pattern: RegExp): ReturnType<typeof anEntry> =>
  anEntry({ selector: { kind: 'match', pattern } });

describe('selects', () => {
  it.each([
    { entry: byId('12'), application: { id: '12', name: 'x' }, chosen: true },
    { entry: byId('12'), application: { id: '123', name: '12' }, chosen: false },
    { entry: byName('Shop'), application: { id: '1', name: 'Shop' }, chosen: true },
    { entry: byName('Shop'), application: { id: '1', name: 'shop' }, chosen: false },
    { entry: byName('Shop'), application: { id: '1', name: 'Shop (production)' }, chosen: false },
    { entry: byName('a.c'), application: { id: '1', name: 'abc' }, chosen: false },
    { entry: byMatch(/^shop-/u), application: { id: '1', name: 'shop-eu' }, chosen: true },
    { entry: byMatch(/^shop-/u), application: { id: '1', name: 'my shop-eu' }, chosen: false },
  ])('$entry.selector and $application: $chosen', ({ entry, application, chosen }) => {
    expect(selects(entry.selector, application)).toBe(chosen);
  });
});

describe('selectorText', () => {
  it.each([
    { entry: byId('12'), text: 'id=12' },
    { entry: byName('Checkout (production)'), text: 'name=Checkout (production)' },
    { entry: byMatch(/^shop-/u), text: 'match=^shop-' },
  ])('is $text', ({ entry, text }) => {
    expect(selectorText(entry.selector)).toBe(text);
  });
});

describe('selectApplications', () => {
  it('gives an application to the first entry that chooses it, and calls neither missing', () => {
    const entries = [byId('1'), byMatch(/shop/u), byName('gone')];
    const shop = anApplication({ id: '1', name: 'shop' });

    const { selected, missing } = selectApplications(entries, [shop]);

    expect(selected).toEqual([{ application: shop, entry: entries[0] }]);
    expect(missing).toEqual([entries[2]]);
  });

  it('gives every application of the same name to an entry by name', () => {
    const twins = [anApplication({ id: '1' }), anApplication({ id: '2' })];

    const { selected } = selectApplications([byName('shop')], twins);

    expect(selected.map(({ application }) => application.id)).toEqual(['1', '2']);
  });

  it('chooses each application at most once, and nothing that no entry wants', () => {
    const anId = fc.nat(20).map(String);
    fc.assert(
      fc.property(fc.uniqueArray(anId), fc.array(anId), (listed, wanted) => {
        const applications = listed.map((id) => anApplication({ id, name: `app ${id}` }));

        const { selected, missing } = selectApplications(wanted.map(byId), applications);

        const expected = listed.filter((id) => wanted.includes(id));
        expect(selected.map(({ application }) => application.id)).toEqual(expected);
        expect(missing).toHaveLength(wanted.filter((id) => !listed.includes(id)).length);
      }),
    );
  });
});
