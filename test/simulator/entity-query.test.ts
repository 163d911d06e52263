import { describe, expect, it } from 'vitest';
import { type EntityAttributes, parseEntityQuery } from '../../src/simulator/entity-query.ts';

const attributes: EntityAttributes = (name) =>
  ({
    name: ["Checkout (production) d'or"],
    domain: ['APM'],
    type: ['APPLICATION'],
    accountId: ['1234567'],
    domainId: ['42'],
    reporting: ['true'],
    'tags.team': ['shop', 'web'],
  })[name] ?? [];

describe('the query of an entity search', () => {
  it.each([
    { query: "domain = 'APM' AND type = 'APPLICATION' AND accountId = '1234567'", finds: true },
    { query: 'accountId = 1234567', finds: true },
    { query: 'accountId = 7654321', finds: false },
    { query: "domain = 'INFRA' OR type = 'APPLICATION'", finds: true },
    { query: "domain = 'APM' and type = 'HOST'", finds: false },
    { query: "domain = 'INFRA' AND type = 'HOST' OR domainId = '42'", finds: true },
    { query: "domain = 'INFRA' AND (type = 'HOST' OR domainId = '42')", finds: false },
    { query: "domainId IN ('41','42')", finds: true },
    { query: "domainId IN ('41')", finds: false },
    { query: "domainId NOT IN ('41')", finds: true },
    { query: "domainId != '42'", finds: false },
    { query: "NOT domainId = '42'", finds: false },
    { query: "name LIKE 'CHECK'", finds: true },
    { query: "name LIKE 'check%'", finds: true },
    { query: "name LIKE '%check'", finds: false },
    { query: "name LIKE 'checkout (production)'", finds: true },
    { query: "name NOT LIKE 'check'", finds: false },
    { query: String.raw`name = 'Checkout (production) d\'or'`, finds: true },
    { query: "name = 'Checkout'", finds: false },
    { query: "reporting = 'true'", finds: true },
    { query: 'reporting = true', finds: true },
    { query: 'alertSeverity IS NULL AND name IS NOT NULL', finds: true },
    { query: "tags.team = 'web'", finds: true },
    { query: "`tags.team` = 'mail'", finds: false },
    { query: "tags.none != 'web'", finds: true },
  ])('$query finds it: $finds', ({ query, finds }) => {
    expect(parseEntityQuery(query)(attributes)).toBe(finds);
  });

  it.each([
    { query: '', says: 'expected an attribute' },
    { query: "colour = 'red'", says: "no attribute 'colour'" },
    { query: 'name = "red"', says: 'no token begins here' },
    { query: 'name = red', says: 'expected a value in quotes' },
    { query: "name > 'a'", says: 'expected =, !=, LIKE, IN or IS' },
    { query: "(name = 'a'", says: "expected ')'" },
    { query: "domainId IN ('1' '2')", says: "expected ')'" },
    { query: "name = 'a' domain = 'APM'", says: 'expected AND, OR or the end' },
  ])('$query is refused: $says', ({ query, says }) => {
    expect(() => parseEntityQuery(query)).toThrow(
      expect.objectContaining({
        extensions: { errorClass: 'INVALID_INPUT' },
        message: expect.stringContaining(says) as string,
      }),
    );
  });
});
