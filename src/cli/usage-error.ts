/** The command line is wrong; the message says what and what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Everything that is wrong with a command line, so that one run shows all of it. */
export interface Problems {
  add(problem: string): void;
  /** The result of some work; `undefined` if it throws a `UsageError`, which is kept. */
  collect<Value>(work: () => Value): Value | undefined;
  /** All problems, each on a line; `undefined` if there is none. */
  message(): string | undefined;
}

export function createProblems(): Problems {
  const found = new Set<string>();
  return {
    add: (problem) => {
      found.add(problem);
    },
    collect: (work) => {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        found.add(error.message);
        return undefined;
      }
    },
    message: () => (found.size === 0 ? undefined : [...found].join('\n')),
  };
}
