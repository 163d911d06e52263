import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';

/**
 * Bytes, and the same compressed: whole deflate blocks, none of which is the last of its stream. The
 * blocks of several pieces, one after the other, are one stream. Nobody writes to these bytes.
 */
export interface Packed {
  readonly identity: Buffer;
  readonly deflated: Buffer;
}

/** A large piece with its checksum, which would take long to compute for every answer. */
export interface Summed extends Packed {
  readonly crc: number;
}

/**
 * Level 1 takes a third of the time of level 6, and a page is so repetitive that a higher level gains
 * little. A flush ends the blocks at a byte, so that others can follow.
 */
const options = { level: 1, finishFlush: constants.Z_SYNC_FLUSH };

const deflateElsewhere = promisify(deflateRaw);

/**
 * Compresses on another thread. Output pieces larger than zlib's default save trips between the
 * threads.
 */
export async function deflate(bytes: Buffer): Promise<Buffer> {
  return deflateElsewhere(bytes, { ...options, chunkSize: 64 * 1024 });
}

/** Compresses at once: cheaper than another thread for some 100 kB or less. */
export function deflateNow(bytes: Buffer): Buffer {
  return deflateRawSync(bytes, options);
}

/** Work between two turns of the event loop: under 1 ms. */
const turnBytes = 2 * 1024 * 1024;

/** @param nextTurn resolves after other work of the process has run */
export async function checksum(bytes: Buffer, nextTurn: () => Promise<void>): Promise<number> {
  let crc = 0;
  for (let start = 0; start < bytes.length; start += turnBytes) {
    if (start > 0) await nextTurn();
    crc = crc32(bytes.subarray(start, start + turnBytes), crc);
  }
  return crc;
}

/** Deflate, no name, no time, the fastest level, an unknown system (RFC 1952). */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
/** An empty block that is the last one. */
const lastBlock = [0x03, 0x00] as const;

/**
 * The pieces as one gzip member. Several members would be as valid, but curl reads only the first.
 * Only the checksum of `rest` is computed: some microseconds for 100 kB.
 */
export function gzipMember(first: Summed, rest: readonly Packed[]): readonly Buffer[] {
  // Of no bytes at all, zlib takes the checksum to begin anew.
  const more = rest.filter(({ identity }) => identity.length > 0);
  const crc = more.reduce((sum, { identity }) => crc32(identity, sum), first.crc);
  const length = rest.reduce((sum, { identity }) => sum + identity.length, first.identity.length);
  const trailer = Buffer.from([...lastBlock, 0, 0, 0, 0, 0, 0, 0, 0]);
  trailer.writeUInt32LE(crc, 2);
  trailer.writeUInt32LE(length % 2 ** 32, 6);
  return [header, first.deflated, ...rest.map(({ deflated }) => deflated), trailer];
}
