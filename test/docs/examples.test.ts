import { describe, expect, it } from 'vitest';
import { readDocument, readProductDocuments } from './documents.ts';
import { goodConfigsIn, messagesOf, mistakesIn } from './example-rule.ts';

const good = readProductDocuments().flatMap(({ path, text }) =>
  goodConfigsIn(text).map((config, index) => ({ path, number: index + 1, config })),
);
const mistakes = mistakesIn(readDocument('docs/configuration.md').text);

describe('the example configurations', () => {
  it('are found', () => {
    expect(good.length).toBeGreaterThanOrEqual(3);
    expect(mistakes.length).toBeGreaterThanOrEqual(1);
  });

  it.each(good)('$path, number $number: is accepted without a warning', async ({ config }) => {
    expect(await messagesOf(config)).toBe('');
  });
});

describe('the messages in docs/configuration.md', () => {
  it.each(mistakes)(
    'are those that check-config gives for $config',
    async ({ config, messages }) => {
      expect(await messagesOf(config)).toBe(messages);
    },
  );
});

describe('the rules for examples', () => {
  const document = [
    '```yaml',
    '# config.yaml',
    'apps: []',
    '```',
    '```yaml',
    '# config.yaml, with mistakes',
    'apps:',
    '```',
    '```text',
    'Something.',
    '```',
    '```yaml',
    '# prometheus.yml',
    '```',
    '',
  ].join('\n');

  it('tell good examples from bad ones and from other files', () => {
    expect(goodConfigsIn(document)).toEqual(['# config.yaml\napps: []\n']);
    expect(mistakesIn(document)).toEqual([
      { config: '# config.yaml, with mistakes\napps:\n', messages: 'Something.\n' },
    ]);
  });

  it('see what is wrong with an example', async () => {
    expect(await messagesOf('# config.yaml\napps: []\n')).toContain('"apps" must not be empty');
    expect(await messagesOf('poll: { interval: 1s }\napps: [{ id: 1 }]\n')).toContain('warning');
  });
});
