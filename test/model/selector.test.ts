import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Application } from '../../src/model/application.ts';
import type { AppEntry, HostSelector } from '../../src/model/config.ts';
import { choosesHost, hostChoiceText } from '../../src/model/selected-application.ts';
import { selectorText } from '../../src/model/selector.ts';
import { selectApplications } from '../../src/tools/survey/selection.ts';
import { anApplication, anEntry } from '../support/builders.ts';

const byId = (id: string): ReturnType<typeof anEntry> => anEntry({ selector: { kind: 'id', id } });
const byName = (name: string): ReturnType<typeof anEntry> =>
  anEntry({ selector: { kind: 'name', name } });
const byMatch = (pattern: RegExp): ReturnType<typeof anEntry> =>
  anEntry({ selector: { kind: 'match', pattern } });

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
  it('leaves out what an entry excludes first, and calls neither that nor a later entry missing', () => {
    const exclude = { ...byMatch(/-staging$/u), exclude: true };
    const entries = [byId('1'), exclude, byName('b-staging'), byMatch(/./u), { ...exclude }];
    const [kept, left, other] = ['a-staging', 'b-staging', 'c'].map((name, index) =>
      anApplication({ id: `${index + 1}`, name }),
    );

    const found = selectApplications(
      entries,
      [kept, left, other].filter((one) => one !== undefined),
    );

    expect(found).toEqual({
      selected: [
        { application: kept, entry: entries[0] },
        { application: other, entry: entries[3] },
      ],
      excluded: [{ application: left, entry: exclude }],
      missing: [],
    });
    expect(selectApplications([exclude], []).missing).toEqual([]);
  });

  it('chooses the same as a comparison of every entry with every application', () => {
    const aName = fc.constantFrom('a', 'A', 'b', 'ab', 'a.', '1', '2');
    const anId = fc.constantFrom('1', '2', '3', '4', '5');
    const entry = fc.oneof(
      anId.map(byId),
      aName.map(byName),
      fc.constantFrom(/a/u, /^b/u, /^$/u, /./u).map(byMatch),
    );
    const application = fc.record({ id: anId, name: aName }).map(anApplication);
    const applications = fc.uniqueArray(application, { selector: ({ id }) => id });

    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), applications, (entries, listed) => {
        const chooses = ({ selector }: AppEntry, { id, name }: Application): boolean => {
          if (selector.kind === 'match') return selector.pattern.test(name);
          return selector.kind === 'id' ? selector.id === id : selector.name === name;
        };
        const expected = listed.flatMap((one) => {
          const first = entries.find((candidate) => chooses(candidate, one));
          return first === undefined ? [] : [{ application: one, entry: first }];
        });

        const { selected, missing } = selectApplications(entries, listed);

        expect(selected).toStrictEqual(expected);
        expect(selected.map((one) => entries.indexOf(one.entry))).toStrictEqual(
          expected.map((one) => entries.indexOf(one.entry)),
        );
        expect(missing).toStrictEqual(
          entries.filter((one) => !listed.some((candidate) => chooses(one, candidate))),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('looks at each entry and each application only a few times, however many there are', () => {
    let looks = 0;
    const counted = <Value extends object>(value: Value): Value =>
      new Proxy(value, {
        get: (target, key) => {
          looks += 1;
          return Reflect.get(target, key) as unknown;
        },
      });
    const ids = Array.from({ length: 2000 }, (_, index) => String(index));
    const applications = ids.map((id) => counted(anApplication({ id, name: 'twin' })));

    selectApplications(
      [...ids.map(byId), ...ids.map(() => byName('twin'))].map(counted),
      applications,
    );

    expect(looks).toBeLessThan(ids.length * 50);
  });

  it('tests each name once with a pattern, and no more than needed with a late one', () => {
    const searched: string[] = [];
    const pattern = {
      source: 'shop',
      test: (name: string): boolean => {
        searched.push(name);
        return name.startsWith('shop');
      },
    };
    const entries = [byId('1'), byId('2'), anEntry({ selector: { kind: 'match', pattern } })];
    const names = ['shop 1', 'shop 2', 'shop 3', 'other'];
    const applications = names.map((name, index) => anApplication({ id: String(index + 1), name }));

    const { missing } = selectApplications(entries, applications);

    expect(missing).toStrictEqual([]);
    expect(searched).toStrictEqual(['shop 1', 'shop 3', 'other']);
  });
});

describe('choosesHost', () => {
  const self: HostSelector = { kind: 'self', names: ['web-1', 'node-7'] };

  it.each([
    { selector: self, name: 'web-1', isChosen: true },
    { selector: self, name: 'Node-7', isChosen: true },
    { selector: self, name: 'web-10', isChosen: false },
    { selector: self, name: 'web-1.shop.svc', isChosen: false },
    { selector: { kind: 'self', names: [] } as const, name: '', isChosen: false },
    { selector: { kind: 'match', pattern: /^web-/u } as const, name: 'web-10', isChosen: true },
    { selector: { kind: 'match', pattern: /^web-/u } as const, name: 'WEB-1', isChosen: false },
    { selector: { kind: 'match', exclude: /^web-/u } as const, name: 'web-1', isChosen: false },
    { selector: { kind: 'match', exclude: /^web-/u } as const, name: 'db-1', isChosen: true },
    {
      selector: { kind: 'match', pattern: /^web-/u, exclude: /-1$/u } as const,
      name: 'web-1',
      isChosen: false,
    },
  ])('$selector.kind of $name: $isChosen', ({ selector, name, isChosen }) => {
    expect(choosesHost(selector, name)).toBe(isChosen);
  });
});

describe('hostChoiceText', () => {
  const choices = [
    true,
    false,
    { kind: 'self', names: ['a'] },
    { kind: 'self', names: ['b'] },
    { kind: 'match', pattern: /a/u },
    { kind: 'match', pattern: /true/u },
    { kind: 'match', exclude: /a/u },
    { kind: 'match', pattern: /a/u, exclude: /a/u },
  ] as const;

  it('compares by what was written', () => {
    for (const [index, left] of choices.entries()) {
      for (const [other, right] of choices.entries()) {
        const copy = typeof right === 'boolean' ? right : { ...right };
        expect(hostChoiceText(left) === hostChoiceText(copy)).toBe(index === other);
      }
    }
  });
});
