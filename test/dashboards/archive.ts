import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { importHistory, type Prometheus, startPrometheus } from './prometheus.ts';

/** Where they are. */
export interface Programs {
  readonly prometheus: string;
  readonly promtool: string;
}

/** What one Prometheus after the other reads from the same folder. */
export interface Archive {
  /** Adds lines of an exposition, each with its time. */
  add(parts: AsyncIterable<readonly string[]> | Iterable<readonly string[]>): Promise<void>;
  /** Runs Prometheus over what has been added so far. */
  read<Value>(use: (prometheus: Prometheus) => Promise<Value>): Promise<Value>;
  /** Starts a Prometheus that has all of it. It scrapes nothing. */
  start(): Promise<Prometheus>;
}

export async function createArchive(
  folder: string,
  { prometheus, promtool }: Programs,
): Promise<Archive> {
  await writeFile(join(folder, 'prometheus.yml'), '');
  const start = async (): Promise<Prometheus> => startPrometheus(prometheus, folder);
  return {
    add: async (parts) => {
      const path = join(folder, 'samples.txt');
      const file = await open(path, 'w');
      for await (const lines of parts) await file.write(lines.join(''));
      await file.write('# EOF\n');
      await file.close();
      await importHistory(promtool, path, folder);
    },
    read: async (use) => {
      const running = await start();
      try {
        return await use(running);
      } finally {
        await running.stop();
      }
    },
    start,
  };
}
