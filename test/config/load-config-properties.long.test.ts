import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { ConfigSource } from '../../src/config/config-file.ts';
import { ConfigError, renderDiagnostic } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/load-config.ts';

const source = { fileName: 'config.yaml', directory: '/' };
const numRuns = 120;

/** Everything that is printed for a text, as a configuration and as a file that is included. */
async function shownFor(text: string): Promise<string> {
  const files = [{ fileName: 'included.yaml', pattern: 'included.yaml', text }];
  const including = { ...source, included: { files, unreadable: [], errors: [], warnings: [] } };
  const asIncluded = await shownBy('include: [included.yaml]\n', including);
  return `${await shownBy(text, source)}\n${asIncluded}`;
}

/** The message of the error, or the warnings. */
async function shownBy(text: string, from: ConfigSource): Promise<string> {
  try {
    return (await parseConfig(text, from)).warnings.map(renderDiagnostic).join('\n');
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

const knownKeys = [
  'accounts',
  'poll',
  'apps',
  'id',
  'name',
  'match',
  'account',
  'labels',
  'interval',
  'window',
  'transactions',
  'region',
  'base_url',
  'proxy_url',
  'proxy_url_file',
  'proxy_url_env',
  'api_key',
  'api_key_file',
  'api_key_env',
];

/** Structures that look like a configuration often enough to get past the first checks. */
function structures(leaf: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { root } = fc.letrec((tie) => ({
    key: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...knownKeys) }, fc.string()),
    map: fc.dictionary(fc.constantFrom(...knownKeys), tie('value'), { maxKeys: 5 }),
    wildMap: fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }),
    list: fc.array(tie('value'), { maxLength: 4 }),
    value: fc.oneof({ maxDepth: 4 }, leaf, leaf, tie('map'), tie('list'), tie('wildMap')),
    root: fc.record(
      {
        accounts: fc.oneof(fc.array(tie('map'), { maxLength: 3 }), tie('value')),
        poll: fc.oneof(tie('map'), tie('value')),
        apps: fc.oneof(fc.array(tie('map'), { maxLength: 3 }), tie('value')),
      },
      { requiredKeys: [] },
    ),
  }));
  return root;
}

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('30s', 'us', 'web', 'https://host', '^a', 'A'),
);

const secret = fc.stringMatching(/^[A-Za-z0-9"'\\:#{}@/-]{6,40}$/).map((rest) => `NRAK-${rest}`);

describe('parseConfig', () => {
  it('throws only a printable ConfigError, whatever the text is', async () => {
    const pieces = fc.constantFrom(
      'apps:',
      '\n',
      '  ',
      '- ',
      ': ',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '&a ',
      '*a',
      '!t ',
      '|',
      '>',
      '---',
      '#',
      '\t',
      '? ',
      'id: 1',
      '%YAML 1.1',
      '<<: ',
      '\r\n',
      '\u0000',
      '😀',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
    );

    await fc.assert(
      fc.asyncProperty(text, async (written) => {
        const shown = await shownFor(written);

        expect(shown, 'control characters must not reach a terminal').not.toMatch(/[^\P{Cc}\n]/u);
      }),
      { numRuns: numRuns * 3 },
    );
  });

  it('throws only a printable ConfigError, whatever the values are', async () => {
    await fc.assert(
      fc.asyncProperty(structures(leaf), async (value) => {
        const shown = await shownFor(stringify(value));

        expect(shown, 'control characters must not reach a terminal').not.toMatch(/[^\P{Cc}\n]/u);
      }),
      { numRuns },
    );
  });

  it('never prints a key, wherever it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        secret.chain((key) =>
          fc.tuple(
            fc.constant(key),
            structures(fc.oneof(leaf, fc.constant(key), fc.constant(`x ${key}`))),
            fc.constantFrom('', `# ${key}\n`, `${key}: 1\n`, `api_key: ${key}\n`, `- ${key} [\n`),
          ),
        ),
        async ([key, value, line]) => {
          expect(await shownFor(line + stringify(value))).not.toContain(key);
        },
      ),
      { numRuns: numRuns * 2 },
    );
  });

  it('accepts every list of ids and keeps them exact', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt({ min: 1n, max: 10n ** 19n - 1n }), { minLength: 1 }),
        async (ids) => {
          const text = stringify({ apps: ids.map((id) => ({ id })) });

          const { config } = await parseConfig(text, source);

          expect(config.apps.map(({ selector }) => selector)).toStrictEqual(
            ids.map((id) => ({ kind: 'id', id: String(id) })),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});
