import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Tool, toolOrSkip } from './tools.ts';

const execute = promisify(execFile);

/** What gives programs a terminal. */
export const python: Tool = toolOrSkip('python3');

/** The first argument says what the terminal is for beside standard error, the second how wide it is. */
const onTerminalScript = `
import fcntl, json, os, pty, struct, subprocess, sys, termios
stdout, columns, *command = sys.argv[1:]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))
child = subprocess.Popen(command, stdout=slave if stdout == "terminal" else subprocess.PIPE,
                         stderr=slave, stdin=subprocess.DEVNULL)
os.close(slave)
screen = b""
while True:
    try:
        part = os.read(master, 65536)
    except OSError:
        break
    if not part:
        break
    screen += part
piped = b"" if child.stdout is None else child.stdout.read()
print(json.dumps({"stdout": piped.decode(), "screen": screen.decode(), "code": child.wait()}))
`;

export interface TerminalOptions {
  /** Where standard output goes; standard error goes to the terminal. */
  readonly stdout: 'terminal' | 'pipe';
  readonly columns: number;
  /** Beside `PATH`. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a program has written. */
export interface Shown {
  /** Empty if standard output was the terminal. */
  readonly stdout: string;
  /** Everything that the terminal was sent. */
  readonly screen: string;
  readonly code: number;
}

/** Runs a program to its end with a pseudo-terminal. */
export async function runOnTerminal(
  command: readonly string[],
  { stdout: target, columns, env }: TerminalOptions,
): Promise<Shown> {
  const { stdout } = await execute(
    python.path,
    ['-c', onTerminalScript, target, String(columns), ...command],
    { env: { PATH: process.env['PATH'] ?? '', ...env }, maxBuffer: 1e8 },
  );
  return JSON.parse(stdout) as Shown;
}
