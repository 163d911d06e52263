import { fstatSync, writeSync } from 'node:fs';

/** As much of `process.stdout` as printing needs. */
export interface PrintStream {
  readonly fd: number;
  write(text: string, written: (error?: Error | null) => void): unknown;
}

/**
 * Writes all of the text; rejects if any of it cannot be written. To a slow pipe it waits for the
 * reader, and its stream must not throw for want of a listener for errors.
 */
export async function print(text: string, stream: PrintStream): Promise<void> {
  if (fstatSync(stream.fd).isFile()) {
    writeAll(stream.fd, Buffer.from(text));
    return;
  }
  await new Promise<void>((resolve, reject) => {
    stream.write(text, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}

/** Node's own stream takes a file that was written in part, when its disk became full, for written. */
function writeAll(fd: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) {
    offset += writeSync(fd, bytes, offset);
  }
}
