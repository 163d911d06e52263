import { run } from '../../src/cli/run.ts';
import { firstOf } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { createNodePlatform } from '../../src/daemon/node-platform.ts';
import type { Platform } from '../../src/daemon/platform.ts';
import { mainFile, until } from '../support/daemon-process.ts';

export interface ServingExporterOptions {
  readonly config: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly ownHostNames: readonly string[];
}

export interface ServingExporter {
  /** Host and port, as a target of Prometheus. */
  readonly target: string;
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>;
}

/**
 * The whole daemon, with real time and real connections, in this process: dozens of processes would
 * take too long to start.
 */
export async function startExporter(options: ServingExporterOptions): Promise<ServingExporter> {
  const stopper = new AbortController();
  const node = createNodePlatform({
    program: new URL(`file://${mainFile}`),
    stopSignal: stopper.signal,
  });
  let log = '';
  const platform: Platform = {
    ...node,
    env: options.env,
    readFile: async () => new TextEncoder().encode(options.config),
    parseConfig: async (file) => {
      const { config, warnings } = await parseConfig(file.text, file);
      return { config, warnings: firstOf(warnings) };
    },
    ownHostNames: options.ownHostNames,
    stderr: {
      write: (text) => {
        log += text;
      },
      on: () => undefined,
    },
    onHangup: () => {},
    tellParent: undefined,
    serviceManager: undefined,
  };
  const ending = run(
    [
      'serve',
      '--config.file=config.yaml',
      '--config.auto-reload-interval=0',
      '--web.listen-address=127.0.0.1:0',
      '--log.format=json',
      '--respawn=false',
      ...options.args,
    ],
    platform,
  );
  const state = { hasEnded: false };
  const ended = ending.finally(() => {
    state.hasEnded = true;
  });
  const port = await until(() => {
    if (state.hasEnded) throw new Error(`the exporter ended: ${log}`);
    return /"host":"127\.0\.0\.1","port":(\d+)/u.exec(log)?.[1];
  });
  return {
    target: `127.0.0.1:${port}`,
    stop: async () => {
      stopper.abort(new Error('stopped by the test'));
      await ended;
    },
  };
}
