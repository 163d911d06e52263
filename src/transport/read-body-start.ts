/**
 * Reads at most `maxBytes` of a body as UTF-8 text and breaks off the rest. A connection that breaks
 * on the way ends the text there; the signal's abort rejects with its reason.
 */
export async function readBodyStart(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes >= maxBytes) break;
    }
  } catch {
    signal.throwIfAborted();
  }
  return Buffer.concat(chunks).toString('utf8', 0, Math.min(sizeBytes, maxBytes));
}
