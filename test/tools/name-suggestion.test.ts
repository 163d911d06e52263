import { describe, expect, it } from 'vitest';
import { loadPatternCompiler } from '../../src/config/patterns.ts';
import type { Selector } from '../../src/model/config.ts';
import { suggestionFor } from '../../src/tools/name-suggestion.ts';

const applications = [
  'service-001',
  'Checkout (production)',
  'checkout-eu',
  '42',
  'evil\u001b[31m',
].map((name, index) => ({ id: String(index + 100), name }));
const compile = await loadPatternCompiler();
const nothing = 'the account has 5 applications: newrelic-exporter discover lists them';

function named(name: string): Selector {
  return { kind: 'name', name };
}

function matching(source: string): Selector {
  return { kind: 'match', pattern: compile(source) };
}

describe('suggestionFor', () => {
  it.each([
    { what: 'another case', selector: named('Service-001'), text: 'did you mean "service-001"?' },
    { what: 'blanks around', selector: named(' service-001'), text: 'did you mean "service-001"?' },
    { what: 'one letter', selector: named('servise-001'), text: 'did you mean "service-001"?' },
    {
      what: 'a part of names',
      selector: named('Checkout'),
      text: 'did you mean "Checkout (production)", "checkout-eu"?',
    },
    {
      what: 'more than the name',
      selector: named('checkout-eu (APM)'),
      text: 'did you mean "checkout-eu"?',
    },
    {
      what: 'a name that a terminal would obey',
      selector: named('evil'),
      text: 'did you mean "evil\\u{1b}[31m"?',
    },
    { what: 'nothing like it', selector: named('billing'), text: nothing },
    {
      what: 'a pattern in another case',
      selector: matching('^SERV'),
      text: 'ignoring case it matches "service-001": write "(?i)^SERV"',
    },
    { what: 'a pattern that matches nothing', selector: matching('^x'), text: nothing },
    { what: 'a pattern that ignores case', selector: matching('(?i)^x'), text: nothing },
    {
      what: 'a name as an id',
      selector: { kind: 'id', id: '42' } as const,
      text: 'an application has that name: write name: "42"',
    },
    {
      what: 'an id',
      selector: { kind: 'id', id: '1' } as const,
      text: 'correct it, or use a key of the account that has the application',
    },
  ])('says what may be meant: $what', async ({ selector, text }) => {
    expect(await suggestionFor(selector, applications)).toBe(text);
  });

  it('names three of many', async () => {
    const many = Array.from({ length: 9 }, (_, index) => ({
      id: `${index}`,
      name: `the shop ${index}`,
    }));

    expect(await suggestionFor(named('shop'), many)).toBe(
      'did you mean "the shop 0", "the shop 1", "the shop 2" and 6 more?',
    );
  });
});
