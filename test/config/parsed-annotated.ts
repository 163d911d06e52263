import { annotatedConfig, annotatedText } from '../../src/config/annotated-config.ts';
import { inspectConfig } from '../../src/config/load-config.ts';
import type { PlainConfig } from '../../src/model/config.ts';

const source = { fileName: 'c.yaml', directory: '/etc/exporter' };

/** A configuration, and the annotated text of it. */
export async function parsed(text: string): Promise<{ text: string; config: PlainConfig }> {
  const file = await inspectConfig(text, source);
  if (file.config === undefined || file.errors.length > 0) {
    throw new Error(file.diagnose(file.errors)[0]?.message);
  }
  const annotated = annotatedConfig(file.config, file);
  return { text: annotatedText(annotated, ' header'), config: file.config };
}
