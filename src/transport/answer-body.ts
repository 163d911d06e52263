/**
 * The bytes of one answer. They are copied into one buffer as they come, unless there is only one
 * chunk, as is usual: an answer that comes byte by byte would else take a hundred times its size.
 */
export class AnswerBody {
  #bytes: Buffer | undefined;
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  append(chunk: Buffer): void {
    const sizeBytes = this.#sizeBytes + chunk.length;
    if (this.#bytes === undefined) {
      this.#bytes = chunk;
    } else {
      if (sizeBytes > this.#bytes.length) this.#bytes = grown(this.#bytes, sizeBytes);
      chunk.copy(this.#bytes, this.#sizeBytes);
    }
    this.#sizeBytes = sizeBytes;
  }

  /** A byte order mark is no part of the text. */
  text(): string {
    const text = this.#bytes?.toString('utf8', 0, this.#sizeBytes) ?? '';
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  }

  /**
   * About what the document takes once it is parsed, if it is JSON, beside its texts: 24 bytes for an
   * element and 96 for an array, an object or a member. What stands in texts counts too.
   */
  parsedBytes(): number {
    const bytes = this.#bytes ?? [];
    let [elements, others] = [0, 0];
    // Not by an iterator: it would make an object for each byte, tens of megabytes of them.
    for (let at = 0; at < this.#sizeBytes; at += 1) {
      const byte = bytes[at];
      if (byte === comma) elements += 1;
      else if (byte === colon || byte === bracket || byte === brace) others += 1;
    }
    return 24 * elements + 96 * others;
  }
}

const [comma, colon, bracket, brace] = [0x2c, 0x3a, 0x5b, 0x7b];

function grown(bytes: Buffer, neededBytes: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.max(neededBytes, 2 * bytes.length));
  bytes.copy(larger);
  return larger;
}
