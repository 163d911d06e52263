import { ConfigError } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

/** The message of the `ConfigError` that a text causes; every other outcome fails the test. */
export async function failureOf(text: string): Promise<string> {
  try {
    await parseConfig(text, { fileName: 'config.yaml', directory: '/etc/exporter' });
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('no error was found');
}

/** The first lines of each diagnostic, without the source and the help. */
export async function headlinesOf(text: string): Promise<readonly string[]> {
  const failure = await failureOf(text);
  return failure.split('\n').filter((line) => line.startsWith('config.yaml'));
}
