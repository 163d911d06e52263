import { ConfigError, type Diagnostic } from '../../src/config/diagnostic.ts';
import { inspectConfig, parseConfig } from '../../src/config/load-config.ts';

const source = { fileName: 'config.yaml', directory: '/etc/exporter' };

/** The message of the `ConfigError` that a text causes; every other outcome fails the test. */
export async function failureOf(text: string): Promise<string> {
  try {
    await parseConfig(text, source);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('no error was found');
}

/** Everything that is found in a text. */
export async function findingsIn(text: string): Promise<readonly Diagnostic[]> {
  const { errors, warnings, diagnose } = await inspectConfig(text, source);
  return diagnose([...errors, ...warnings]);
}

/** A text, where something is wrong with it, and what the messages must name. */
export type Row = readonly [text: string, places: string, ...facts: readonly string[]];

/** Where something was found, such as `1:5 2:3`. */
export function placesOf(found: readonly Diagnostic[]): string {
  return found.map(({ line, column }) => `${line}:${column}`).join(' ');
}

/** All messages, with what to do about them. */
export function wordsOf(found: readonly Diagnostic[]): string {
  return found.map(({ message, help }) => `${message}\n${help ?? ''}`).join('\n');
}
