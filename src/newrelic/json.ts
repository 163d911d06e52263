/** An object of a parsed document. Its members are the vendor's: anything may stand there. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws a `SyntaxError` on anything that is not JSON. For documents without ids. */
export function parseJson(body: string): unknown {
  return JSON.parse(body);
}

/**
 * As `parseJson`, but an integer beyond 2^53 becomes a string of the same digits: ids must not be
 * rounded. For the documents that carry ids; the answers of the many metric calls carry none.
 */
export function parseJsonKeepingIds(body: string): unknown {
  const document: unknown = JSON.parse(body);
  if (!/\d{16}/.test(body)) return document;
  // The body is valid JSON from here on, so that a quote outside a string always begins one, and a
  // run of these characters outside a string is one number or one literal.
  const quoted = body.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[-+.\w]+/gs, (token) =>
    isLongInteger(token) ? `"${token}"` : token,
  );
  return JSON.parse(quoted);
}

function isLongInteger(token: string): boolean {
  return /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
}
