/** One line of the log. */
export interface LoggedLine {
  readonly level: string;
  readonly msg: string;
  readonly account?: string;
  readonly app_id?: string;
  readonly error?: { readonly reason?: string; readonly message?: string };
  readonly [field: string]: unknown;
}

/** The lines of a JSON log, or those with one message; debug lines only if they are asked for by it. */
export function loggedLines(text: string, message?: string): readonly LoggedLine[] {
  const quoted = JSON.stringify(message);
  return (
    text
      .split('\n')
      // Most of a log is lines of single calls: only those that may be wanted are worth parsing.
      .filter((line) => line !== '' && (message === undefined || line.includes(quoted)))
      .map((line) => JSON.parse(line) as LoggedLine)
      .filter(({ msg }) => message === undefined || msg === message)
  );
}
