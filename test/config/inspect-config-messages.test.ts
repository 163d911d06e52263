import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/config/diagnostic.ts';
import { inspectConfig } from '../../src/config/inspect-config.ts';
import { namedFileProblems } from '../../src/config/named-files.ts';
import { type MessageCase, messageCases } from './message-cases.ts';

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

/** The only place where they stand in full: all other tests look for what they are about. */
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
});
