/**
 * Keeps the process alive when the reader of its output is gone (EPIPE) or the disk is full: Node
 * throws a stream error that nobody listens to. For standard output and standard error only, where
 * there is nobody left to tell.
 */
export function ignoreWriteErrors(stream: {
  on(event: 'error', listener: () => void): unknown;
}): void {
  stream.on('error', () => undefined);
}
