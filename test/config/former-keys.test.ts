import { describe, expect, it } from 'vitest';
import { formerKeys } from '../../src/config/former-keys.ts';
import { inspectConfig } from '../../src/config/load-config.ts';
import { placesOf, wordsOf } from './config-failure.ts';

/** As if `raw` had another name since 0.3, and three other keys had gone. */
const former = [
  { place: 'poll.raw', since: '0.3', write: 'write rounded: false' },
  { place: 'apps.*.kinds', since: '0.2', write: 'write transactions: [web]' },
  { place: 'apps.*.metrics.*.field', since: '0.2', write: 'write value: average_value' },
  { place: 'accout', since: '0.1', write: 'write accounts, a list' },
];

async function findingsIn(text: string) {
  const context = {
    nextTurn: async () => undefined,
    clock: { monotonicMs: () => 0 },
    ownHostNames: [],
    formerKeys: former,
  };
  const source = { fileName: 'config.yaml', directory: '/' };
  const { errors, warnings, diagnose } = await inspectConfig(text, source, context);
  return { errors: diagnose(errors), warnings: diagnose(warnings) };
}

describe('a key of the file that goes', () => {
  it('works with a warning as long as the schema has it', async () => {
    const { errors, warnings } = await findingsIn('poll: {raw: true}\napps: [{id: 1}]');

    expect(errors).toEqual([]);
    expect(placesOf(warnings)).toBe('1:8');
    expect(wordsOf(warnings)).toContain('"raw" is former since 0.3, and will go');
    expect(wordsOf(warnings)).toContain('write rounded: false');
  });

  it.each([
    ['apps: [{id: 1}, {id: 2, kinds: web}]', '1:25', '"kinds" is gone since 0.2', 'write trans'],
    [
      'apps: [{id: 1, metrics: [{metric: M, value: rate, as: a, field: x}]}]',
      '1:58',
      '"field" is gone since 0.2',
      'write value: average_value',
    ],
    ['apps: [{id: 1}]\naccout: {}', '2:1', '"accout" is gone', 'write accounts, a list'],
  ])(
    'is an error when it is gone, which says what to write: %s',
    async (text, places, ...facts) => {
      const { errors } = await findingsIn(text);

      expect(placesOf(errors)).toBe(places);
      for (const fact of facts) expect(wordsOf(errors)).toContain(fact);
    },
  );

  it('is unknown where it never was', async () => {
    const { errors } = await findingsIn('poll: {kinds: web}\napps: [{id: 1}]');

    expect(wordsOf(errors)).toContain('unknown key "kinds"');
  });
});

describe('the keys that go', () => {
  it('are each at a place of the file, with what to write', () => {
    for (const { place, since, write } of formerKeys) {
      expect(place).toMatch(/^(?:accounts\.\*|poll|apps\.\*|queries\.\*)\.|^[a-z_]+$/u);
      expect(since).toMatch(/^\d+\.\d+$/u);
      expect(write).toMatch(/^write |^remove /u);
    }
  });
});
