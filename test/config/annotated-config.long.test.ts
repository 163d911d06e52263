import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsed } from './parsed-annotated.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => {
  // The file may not hold these, nor anything like a key.
  return !/[\p{Cc}\p{Cs}]|^NR[A-Z]{2,3}-/u.test(text);
});
const duration = fc.integer({ min: 60, max: 7200 }).map((seconds) => `${seconds}s`);
const optional = <Value>(key: string, value: fc.Arbitrary<Value>) =>
  fc
    .option(value, { nil: undefined })
    .map((found) => (found === undefined ? {} : { [key]: found }));
const merged = (...parts: readonly fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as object);

const polls = merged(
  optional('interval', duration),
  optional('window', fc.oneof(duration, fc.constant('default'))),
  optional('delay', duration),
  optional('raw', fc.boolean()),
  optional(
    'metrics',
    fc.constantFrom(
      ['apdex', 'errors'],
      [
        'cpu',
        { metric: 'GC/cumulative', value: 'call_count', as: 'gc_calls', labels: { gc: '#' } },
      ],
      [{ metric: 'a: b', value: 'rate', as: 'x_ab', scale: 0.5, help: '"%"' }, 'throughput'],
    ),
  ),
);
const entries = merged(
  fc.oneof(
    fc.bigInt({ min: 1n, max: 10n ** 18n }).map((id) => ({ id: String(id) })),
    name.map((text) => ({ name: text })),
    fc.constantFrom('^shop-', '#', '"', "it's: x", '[a-z]').map((match) => ({ match })),
  ),
  optional('labels', fc.dictionary(fc.constantFrom('team', 'tier'), name)),
  optional('hosts', fc.oneof(fc.constantFrom(true, 'self'), fc.constant({ match: '^web' }))),
  optional('transactions', fc.constantFrom(['web'], ['other', 'web'])),
  polls,
);
const files = fc.record({
  poll: polls,
  apps: fc.array(entries, { minLength: 1, maxLength: 6 }),
  accounts: fc
    .uniqueArray(name, { minLength: 1, maxLength: 1 })
    .map((names) => names.map((text) => ({ name: text, api_key_env: 'K', region: 'eu' }))),
});

describe('annotatedText', () => {
  it('is a configuration that means the same, and the same text once more', async () => {
    await fc.assert(
      fc.asyncProperty(files, async (file) => {
        const first = await parsed(JSON.stringify(file));

        const second = await parsed(first.text);

        expect(second.config).toEqual(first.config);
        const withoutOrigins = (text: string): string =>
          text.replaceAll(/ # (?:c\.yaml:\d+|default)$/gmu, '');
        expect(withoutOrigins((await parsed(second.text)).text)).toBe(withoutOrigins(second.text));
      }),
      { numRuns: 200 },
    );
  });
});
