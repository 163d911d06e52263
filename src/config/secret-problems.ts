import { errorAt, type Problem } from './diagnostic.ts';
import type { Located, Span } from './located.ts';
import { looksLikeApiKey } from './mask-secrets.ts';

/** Keys that people give the API key itself, in lower case and without separators. */
const keyNames = new Set(['apikey', 'key', 'licensekey', 'userkey', 'newrelicapikey', 'token']);

const message = 'the API key must not be in this file';
const help =
  'put the key into a file and name it with "api_key_file", or into an environment variable and name that with "api_key_env"';

/** The result of {@link findSecrets}. */
export interface FoundSecrets {
  readonly problems: readonly Problem[];
  /** The places that must never be printed. */
  readonly spans: readonly Span[];
}

/** Whether people give this key to the API key itself. */
export function namesAKey(key: string): boolean {
  return keyNames.has(key.toLowerCase().replaceAll(/[-_ ]/gu, ''));
}

function visit(located: Located, found: { problems: Problem[]; spans: Span[] }): void {
  const refuse = (at: Span, secret: Span): void => {
    found.problems.push(errorAt(at, message, help));
    found.spans.push(secret);
  };
  switch (located.kind) {
    case 'scalar':
      if (typeof located.value === 'string' && looksLikeApiKey(located.value)) {
        refuse(located.span, located.span);
      }
      return;
    case 'list':
      for (const item of located.items) visit(item, found);
      return;
    case 'map':
      for (const { key, keySpan, value } of located.entries.values()) {
        if (looksLikeApiKey(key)) refuse(keySpan, keySpan);
        if (namesAKey(key)) refuse(keySpan, value.span);
        // A label may have one of these names.
        else if (key === 'labels' && value.kind === 'map') visitLabels(value, found);
        else visit(value, found);
      }
  }
}

function visitLabels(
  labels: Located & { readonly kind: 'map' },
  found: { problems: Problem[]; spans: Span[] },
): void {
  for (const { value } of labels.entries.values()) visit(value, found);
}

/**
 * Finds API keys in the file: by the name of their key, or by how they begin. It follows aliases, so
 * the same place may be found twice.
 */
export function findSecrets(root: Located): FoundSecrets {
  const found = { problems: [], spans: [] };
  visit(root, found);
  return found;
}
