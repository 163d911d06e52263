import { ConfigError, renderDiagnostic } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import { codeBlocksIn } from './markdown.ts';

const correct = '# config.yaml\n';
const mistaken = '# config.yaml, with mistakes\n';

/** What `check-config` says of a configuration: nothing, warnings, or errors. */
export async function messagesOf(config: string): Promise<string> {
  try {
    const { warnings } = await parseConfig(config, { fileName: 'config.yaml', directory: '/' });
    return warnings.map((warning) => `${renderDiagnostic(warning)}\n`).join('');
  } catch (error) {
    if (error instanceof ConfigError) return `${error.message}\n`;
    throw error;
  }
}

/** The configurations that a document shows as good ones: the first line says so. */
export function goodConfigsIn(text: string): readonly string[] {
  return codeBlocksIn(text)
    .map((block) => block.text)
    .filter((block) => block.startsWith(correct));
}

/** The configurations that are shown as bad ones, each with the block of messages behind it. */
export function mistakesIn(
  text: string,
): readonly { readonly config: string; readonly messages: string }[] {
  const blocks = codeBlocksIn(text);
  return blocks.flatMap(({ text: config }, index) =>
    config.startsWith(mistaken) ? [{ config, messages: blocks[index + 1]?.text ?? '' }] : [],
  );
}
