import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/config/diagnostic.ts';
import { inspectConfig } from '../../src/config/inspect-config.ts';
import { namedFileProblems } from '../../src/config/named-files.ts';
import { type MessageCase, messageCases } from './message-cases.ts';
import { messageTextsIn } from './message-texts.ts';

const folder = join(import.meta.dirname, '../../src/config');

/** These files are about the web configuration, whose messages test/config/load-web-config-errors.test.ts has. */
const ofWebConfig = /^(?:web-|tls-|load-web-|bcrypt-)/u;

/** Texts that are no messages, or that come only with a file that cannot be read (load-config.test.ts). */
const elsewhere: ReadonlySet<string> = new Set([
  'newrelic-exporter configuration',
  'the configuration has no pattern',
  'configuration file',
  'name the ${…} with ${…}',
  'the ${…} is larger than 1 MiB',
  'the ${…} is not UTF-8',
  'save it with that encoding',
  // For an error without a code, which Node.js does not make when it reads a file.
  'cannot be read',
  // Only for the root of the file, which another check has already found to be a map.
  'the file',
  // Every name of a label that is refused has a reason of its own.
  'is not allowed',
]);

async function diagnosticsOf({
  text,
  files = {},
  env = {},
  modes = {},
}: MessageCase): Promise<readonly Diagnostic[]> {
  const inspected = await inspectConfig(text, { fileName: 'c.yaml', directory: '/' });
  const problems = await namedFileProblems(inspected.files, {
    env,
    fileMode: async (path) => modes[path],
    readFile: async (path) => {
      const content = files[path] ?? { code: 'ENOENT' };
      if (typeof content === 'string') return new TextEncoder().encode(content);
      if (content instanceof Uint8Array) return content;
      throw Object.assign(new Error(content.code), content);
    },
  });
  return inspected.diagnose([...inspected.errors, ...inspected.warnings, ...problems]);
}

function shown({ severity, line, column, message, help }: Diagnostic): string {
  const place = line === 0 ? '' : `${line}:${column}: `;
  const level = severity === 'warning' ? 'warning: ' : '';
  return `  => ${place}${level}${message}\n${help === undefined ? '' : `     help: ${help}\n`}`;
}

/** Long texts are cut: what is repeated in them does not matter. */
function abridged(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line.length > 120 ? `${line.slice(0, 60)}…` : line}\n`)
    .join('');
}

const results = await Promise.all(
  messageCases.map(async (one) => ({ one, diagnostics: await diagnosticsOf(one) })),
);

describe('the messages of the configuration', () => {
  it('are these, word by word', async () => {
    const table = results.map(({ one, diagnostics }) =>
      [abridged(one.text), ...diagnostics.map(shown)].join(''),
    );

    await expect(table.join('\n')).toMatchFileSnapshot('config-messages.txt');
  });

  it.each(results.map(({ one, diagnostics }) => ({ text: one.text.slice(0, 80), diagnostics })))(
    'are not empty for $text',
    ({ diagnostics }) => {
      expect(diagnostics).not.toEqual([]);
    },
  );

  const said = results.flatMap(({ diagnostics }) =>
    diagnostics.flatMap(({ message, help = '' }) => [message, help]),
  );
  const files = readdirSync(folder).filter((name) => !ofWebConfig.test(name));
  const texts = files.flatMap((name) =>
    messageTextsIn(readFileSync(join(folder, name), 'utf8')).map((text) => ({ name, ...text })),
  );

  it('are found in the code', () => {
    expect(texts.length).toBeGreaterThan(180);
  });

  it.each(texts.filter(({ written }) => !elsewhere.has(written)))(
    'of $name include: $written',
    ({ pattern }) => {
      expect(said.some((one) => pattern.test(one))).toBe(true);
    },
  );

  it('are left out only if they exist', () => {
    const written = new Set(texts.map((one) => one.written));

    expect([...elsewhere].filter((text) => !written.has(text))).toEqual([]);
  });
});

describe('messageTextsIn', () => {
  it('finds texts and templates that look like messages, and no others', () => {
    const code = `
      import { x } from 'a module.ts';
      type T = 'in a type';
      const plain = 'must be a map';
      const template = \`"\${key}" must be \${value} (at most)\`;
      const description = text('Name of the account.');
      const word = 'word';
    `;

    const found = messageTextsIn(code);

    expect(found.map(({ written }) => written)).toEqual([
      'must be a map',
      '"${…}" must be ${…} (at most)',
    ]);
    expect(found[1]?.pattern.test('"a" must be 5 (at most)')).toBe(true);
    expect(found[1]?.pattern.test('"a" must be 5 at most')).toBe(false);
  });
});
