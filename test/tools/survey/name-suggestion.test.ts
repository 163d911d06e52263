import { describe, expect, it } from 'vitest';
import { loadPatternCompiler } from '../../../src/config/patterns.ts';
import type { AccountSource, Selector } from '../../../src/model/config.ts';
import { suggestionFor } from '../../../src/tools/survey/name-suggestion.ts';

function named(...names: readonly string[]) {
  return names.map((name, index) => ({ id: `${index + 100}`, name }));
}

const rest = { kind: 'rest', accountId: undefined } as const;
const nerdgraph = { kind: 'nerdgraph', accountId: 7 } as const;
const production = 'Checkout (production)';
const applications = named('service-001', production, 'checkout-eu', '42', 'evil\u001b[31m');
const compile = await loadPatternCompiler();
const nothing = 'the account has 5 applications: newrelic-exporter discover lists them';

function selectorOf(kind: Selector['kind'], text: string): Selector {
  if (kind === 'id') return { kind, id: text };
  return kind === 'name' ? { kind, name: text } : { kind, pattern: compile(text) };
}

describe('suggestionFor', () => {
  it.each<[what: string, kind: Selector['kind'], text: string, says: string]>([
    ['another case', 'name', 'Service-001', 'did you mean "service-001"?'],
    ['blanks around', 'name', ' service-001', 'did you mean "service-001"?'],
    ['one letter', 'name', 'servise-001', 'did you mean "service-001"?'],
    ['a part of names', 'name', 'Checkout', `did you mean "${production}", "checkout-eu"?`],
    ['more than the name', 'name', 'checkout-eu (APM)', 'did you mean "checkout-eu"?'],
    ['a name that a terminal would obey', 'name', 'evil', 'did you mean "evil\\u{1b}[31m"?'],
    ['nothing like it', 'name', 'billing', nothing],
    [
      'a pattern in another case',
      'match',
      '^SERV',
      'ignoring case it matches "service-001": write "(?i)^SERV"',
    ],
    ['a pattern that matches nothing', 'match', '^x', nothing],
    ['a pattern that ignores case', 'match', '(?i)^x', nothing],
    ['a name as an id', 'id', '42', 'an application has that name: write name: "42"'],
    ['an id', 'id', '1', 'correct it, or use a key of the account that has the application'],
  ])('says what may be meant: %s', async (_, kind, text, says) => {
    expect(await suggestionFor(selectorOf(kind, text), applications, rest)).toBe(says);
  });

  it.each<[kind: Selector['kind'], source: AccountSource, says: string]>([
    [
      'name',
      rest,
      'the key sees no application: with "source: rest" it sees the account in which it was created alone; is it the right one?',
    ],
    ['match', nerdgraph, 'the key sees no application in the account 7; is account_id right?'],
    // It was asked for that name alone.
    ['name', nerdgraph, 'newrelic-exporter discover lists all of them'],
  ])('says what it means that there is none for a %s: %j', async (kind, source, says) => {
    expect(await suggestionFor(selectorOf(kind, 'shop'), [], source)).toBe(says);
  });

  it('names three of many', async () => {
    const many = named(...Array.from({ length: 9 }, (_, index) => `the shop ${index}`));

    expect(await suggestionFor(selectorOf('name', 'shop'), many, rest)).toBe(
      'did you mean "the shop 0", "the shop 1", "the shop 2" and 6 more?',
    );
  });
});
