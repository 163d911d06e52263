import { parentPort, workerData } from 'node:worker_threads';
import { ConfigError, firstOf } from '../config/diagnostic.ts';
import { parseConfig } from '../config/parse-config.ts';
import { parsedReply, type ThreadReply, type ThreadTask, transferred } from './thread-reply.ts';

/** What a thread of this program is for: it parses the configuration that it was started with. */
export async function parseForParent(): Promise<void> {
  const task: ThreadTask = workerData;
  const reply = await replyTo(task);
  parentPort?.postMessage(reply, transferred(reply));
}

async function replyTo({ text, ...source }: ThreadTask): Promise<ThreadReply> {
  try {
    const { config, warnings } = await parseConfig(text, source);
    return parsedReply(config, firstOf(warnings));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { kind: 'refused', message: error.message };
  }
}
