import type { ChildEnd, ChildProgram } from '../../src/daemon/platform.ts';

/** A child process that a test plays. */
export interface FakeChild {
  readonly args: readonly string[];
  /** What it was sent, in order. */
  readonly signals: readonly string[];
  /** As when the child sends its parent something. */
  tell(message: unknown): void;
  end(end: ChildEnd): void;
  /** As when there is no memory for a process. */
  fail(error: Error): void;
}

export interface FakeChildren {
  readonly start: (args: readonly string[]) => ChildProgram;
  readonly all: readonly FakeChild[];
  /** The one that was started last. */
  last(): FakeChild;
}

/** Children that end when they are killed, and otherwise only if the test says so. */
export function createFakeChildren(): FakeChildren {
  const all: FakeChild[] = [];
  return {
    all,
    start: (args) => {
      const signals: string[] = [];
      const listeners: ((message: unknown) => void)[] = [];
      let end: (end: ChildEnd) => void = () => {};
      let fail: (error: Error) => void = () => {};
      const ended = new Promise<ChildEnd>((resolve, reject) => {
        end = resolve;
        fail = reject;
      });
      const tell = (message: unknown): void => {
        for (const listener of listeners) listener(message);
      };
      all.push({ args, signals, tell, end, fail });
      return {
        ended,
        onMessage: (listener) => void listeners.push(listener),
        signal: (name) => {
          signals.push(name);
          if (name === 'SIGKILL') end({ code: null, signal: name });
        },
      };
    },
    last: () => {
      const child = all.at(-1);
      if (child === undefined) throw new Error('no child was started');
      return child;
    },
  };
}
