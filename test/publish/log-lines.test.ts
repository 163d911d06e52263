import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logfmtLine, prettyLine } from '../../src/publish/log-lines.ts';

const head = { level: 'warn', time: '2026-09-01T10:00:30.250Z', msg: 'poll failed' };

/** Reads logfmt as its readers do: pairs with spaces between them, values plain or as JSON strings. */
function parseLogfmt(line: string): ReadonlyMap<string, string> {
  const pair = /(?<name>[^\s="]+)=(?<value>"(?:[^"\\]|\\.)*"|[^\s="]*)(?: |$)/gy;
  const pairs = [...line.matchAll(pair)];
  expect(pairs.map(([text]) => text).join('')).toBe(line);
  return new Map(
    pairs.map(({ groups: { name = '', value = '' } = {} }) => [
      name,
      value.startsWith('"') ? String(JSON.parse(value)) : value,
    ]),
  );
}

describe('a line in logfmt', () => {
  it.each([
    { fields: { app_name: 'Checkout (production)' }, written: 'app_name="Checkout (production)"' },
    {
      fields: { failed: 1, works: false, cause: null },
      written: 'failed=1 works=false cause=null',
    },
    { fields: { text: 'say "a=b"' }, written: String.raw`text="say \"a=b\""` },
    { fields: { text: 'a\nlevel=error' }, written: String.raw`text="a\nlevel=error"` },
    { fields: { examples: ['a', 'b c'] }, written: String.raw`examples="[\"a\",\"b c\"]"` },
    { fields: { error: { reason: 'dns', cause: {} } }, written: 'error.reason=dns error.cause={}' },
    { fields: { 'a b="c': 1 }, written: 'a_b__c=1' },
  ])('has $fields as $written', ({ fields, written }) => {
    expect(logfmtLine({ ...head, ...fields })).toBe(
      `level=warn time=2026-09-01T10:00:30.250Z msg="poll failed" ${written}`,
    );
  });

  it('gives the same fields when it is read back, whatever is in them', () => {
    const names = fc.stringMatching(/^[a-z_]{1,8}$/).map((name) => `field_${name}`);
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\s"=\\n]*$/));
    const scalars = fc.oneof(texts, fc.double(), fc.boolean(), fc.constant(null));
    const values = fc.oneof(scalars, fc.array(scalars));
    fc.assert(
      fc.property(fc.dictionary(names, values), (fields) => {
        // What a line is made of has been JSON.
        const entry = { ...head, ...(JSON.parse(JSON.stringify(fields)) as object) };
        const expected = Object.entries(entry).map(([name, value]: [string, unknown]) => [
          name,
          Array.isArray(value) ? JSON.stringify(value) : String(value),
        ]);

        expect([...parseLogfmt(logfmtLine(entry))]).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });
});

// The golden logs show a line of every kind.
describe('a line for people', () => {
  const error = { type: 'ApiError', message: 'no answer in time', reason: 'timeout' };
  const entry = { ...head, account: 'production', app_id: '31584797', failed: 1, error };

  it('has the message, whom it is about and why, the error, then the rest', () => {
    expect(prettyLine(entry, false)).toBe(
      '2026-09-01T10:00:30.250Z WARN  poll failed  account=production app_id=31584797 reason=timeout  error: no answer in time  failed=1 error.type=ApiError',
    );
  });

  it('lets no name look like another part of the line', () => {
    const app_name = 'x  remedy: rm -rf / app_id=7\n2026 ERROR faked';
    const line = prettyLine({ ...entry, app_name }, false);

    expect(line).toContain(
      String.raw`app_name="x  remedy: rm -rf / app_id=7\n2026 ERROR faked" app_id=31584797`,
    );
    expect(line).not.toContain('\n');
  });
});
