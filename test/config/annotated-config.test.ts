import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotatedConfig, annotatedText } from '../../src/config/annotated-config.ts';
import { inspectConfig } from '../../src/config/inspect-config.ts';
import type { PlainConfig } from '../../src/model/config.ts';

const source = { fileName: 'c.yaml', directory: '/etc/exporter' };

async function parsed(text: string): Promise<{ text: string; config: PlainConfig }> {
  const file = await inspectConfig(text, source);
  if (file.config === undefined || file.errors.length > 0) {
    throw new Error(file.diagnose(file.errors)[0]?.message);
  }
  const annotated = annotatedConfig(file.config, file);
  return { text: annotatedText(annotated, ' header'), config: file.config };
}

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

  it('has the origin of every value behind it', async () => {
    const { text } = await parsed('apps: [{ id: 1 }]');

    const lines = text.split('\n').filter((line) => line !== '' && !/^#|^\w+:$/u.test(line));
    expect(lines.filter((line) => !/ # (?:default|c\.yaml:1)$/u.test(line))).toEqual([]);
    expect(lines).toContain('  - id: 1 # c.yaml:1');
  });

  it('finds the metrics of poll if most entries have others', async () => {
    const file = `poll:
  metrics:
    - metric: M
      value: score
      as: x
apps:
  - id: 1
    metrics: &own
      - { metric: M, value: score, as: y }
  - { id: 2, metrics: *own }
  - id: 3`;

    const { text } = await parsed(file);

    expect(text).toContain('\n      as: y # c.yaml:9\n');
    expect(text).toContain('\n        as: x # c.yaml:5\n');
  });

  it('tells which metrics are those of the entry and which are those of poll', async () => {
    const file = `poll:
  metrics:
    - apdex
    - metric: M
      value: score
      as: x
      scale: 2
apps:
  - id: 1
  - id: 2
    metrics: [errors,
      cpu]
  - id: 3
    metrics:
      - memory
      - { metric: M, value: score, as: y }
  - id: 4
    interval: 5m`;

    const { text } = await parsed(file);

    const metrics = text
      .split('\n')
      .filter((line) => /apdex|cpu|memory|as:|scale:|metrics:|id:/u.test(line));
    expect(metrics.map((line) => line.trim())).toEqual([
      'metrics:',
      '- apdex # c.yaml:3',
      'as: x # c.yaml:6',
      'scale: 2 # c.yaml:7',
      '- id: 1 # c.yaml:9',
      '- id: 2 # c.yaml:10',
      'metrics: [ errors, cpu ] # c.yaml:11',
      '- id: 3 # c.yaml:13',
      'metrics:',
      '- memory # c.yaml:15',
      'as: y # c.yaml:16',
      'scale: 1 # default',
      '- id: 4 # c.yaml:17',
    ]);
  });
});
