import { execFile } from 'node:child_process';

/** Runs a program to its end; rejects with an error that says how it failed. */
export type RunTool = (
  file: string,
  args: readonly string[],
  options: { readonly env: Readonly<Record<string, string>>; readonly timeoutMs: number },
) => Promise<void>;

/** Runs a program of this machine. */
export const runTool: RunTool = async (file, args, { env, timeoutMs: timeout }) =>
  new Promise((resolve, reject) => {
    execFile(file, args, { env, timeout, killSignal: 'SIGKILL' }, (error, _stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(`${file}: ${failureText(error, stderr, timeout)}`, { cause: error }));
    });
  });

function failureText(
  error: Error & { readonly code?: unknown; readonly killed?: boolean; readonly signal?: unknown },
  stderr: string,
  timeout: number,
): string {
  if (error.code === 'ENOENT') return 'there is no such program';
  if (error.killed === true) return `no end after ${timeout / 1000} s`;
  const [firstLine = ''] = stderr.trim().split('\n');
  if (firstLine !== '') return firstLine;
  return typeof error.signal === 'string'
    ? `ended by ${error.signal}`
    : `failed with ${String(error.code)}`;
}
