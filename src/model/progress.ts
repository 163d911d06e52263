/** Tells whoever waits for a command what it is doing. */
export interface Progress {
  /**
   * From now on this is what the command is doing. The function is called whenever it is to be shown:
   * its text is one line, without secrets, and without a full stop.
   */
  show(text: () => string): void;
}

export const noProgress: Progress = { show: () => {} };
