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
  if (!/\d{16}/.test(body)) return parseJson(body);
  // Only to learn whether it is JSON: it is not kept, since a large one takes much.
  parseJson(body);
  return JSON.parse(withLongIntegersQuoted(body));
}

/**
 * Takes valid JSON: a quote that is not escaped begins or ends a text, and a run of these characters
 * outside a text is one number or one literal. Goes from token to token, since `replace` would keep
 * all of them, which takes up to a hundred times the size of the document.
 */
function withLongIntegersQuoted(json: string): string {
  const parts: string[] = [];
  let [copied, isInText] = [0, false];
  for (const { 0: token, index } of json.matchAll(/\\.|"|[-+.\w]+/gs)) {
    if (token === '"') {
      isInText = !isInText;
    } else if (!isInText && isLongInteger(token)) {
      parts.push(json.slice(copied, index), `"${token}"`);
      copied = index + token.length;
    }
  }
  return [...parts, json.slice(copied)].join('');
}

function isLongInteger(token: string): boolean {
  return /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
}
