import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** npm as on a machine where it was never used: no settings, an empty cache, no network. */
export interface Npm {
  /** Runs a program, such as `npm`, in a folder; gives what it wrote to standard output. */
  run(folder: string, program: string, ...args: readonly string[]): Promise<string>;
  /** Starts a program in a process group of its own. */
  start(folder: string, program: string, ...args: readonly string[]): Started;
}

export interface Started {
  readonly child: ChildProcess;
  output(): string;
  /** Its exit code; `null` if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/**
 * @param node the program `node` that npm and what it starts run with
 * @param home an empty folder
 */
export function createNpm(node: string, home: string): Npm {
  const env = {
    PATH: [dirname(node), process.env['PATH'] ?? ''].join(delimiter),
    HOME: home,
    npm_config_cache: join(home, 'cache'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  return {
    run: async (cwd, program, ...args) => {
      const options = { cwd, env, maxBuffer: 2 ** 24 };
      return (await promisify(execFile)(program, args, options)).stdout;
    },
    start: (cwd, program, ...args) => {
      const child = spawn(program, args, { cwd, env, detached: true, stdio: 'pipe' });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (part: Buffer) => {
          output += part.toString();
        });
      }
      const ended = once(child, 'close').then(() => child.exitCode);
      return { child, output: () => output, ended };
    },
  };
}
