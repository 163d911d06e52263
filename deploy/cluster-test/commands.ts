import { spawn } from 'node:child_process';

export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  /** Both outputs, as a terminal would show them. */
  readonly output: string;
}

/** Runs a program to its end, whatever that is. */
export async function attempt(
  program: string,
  args: readonly string[],
  input = '',
): Promise<CommandOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let output = '';
    child.stdout.on('data', (part: Buffer) => {
      stdout += part.toString();
      output += part.toString();
    });
    child.stderr.on('data', (part: Buffer) => (output += part.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code: code ?? 1, stdout, output });
    });
    child.stdin.end(input);
  });
}

/** Runs a program that must succeed; gives its standard output. */
export async function run(program: string, args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, output } = await attempt(program, args, input);
  if (code === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
}

/** Asks again and again until there is an answer; `undefined` when the time is over. */
export async function eventually<T>(
  seconds: number,
  ask: () => Promise<T | undefined> | T | undefined,
): Promise<T | undefined> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() > end) return answer;
    await pause(0.2);
  }
}

export async function pause(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/** Runs the jobs, some at a time; a job that fails does not keep the others from running. */
export async function inParallel(
  atOnce: number,
  jobs: readonly (() => Promise<void>)[],
): Promise<void> {
  const waiting = [...jobs];
  const worker = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await job();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
