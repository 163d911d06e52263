import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);

/**
 * Compresses on another thread. Level 1 costs a third of the time of level 6 and the repetition in
 * a page leaves little to win; larger output pieces than zlib's own save trips between the threads.
 */
export async function gzipFast(bytes: Buffer): Promise<Buffer> {
  return compress(bytes, { level: 1, chunkSize: 64 * 1024 });
}
