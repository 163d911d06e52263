import { errorAt, type Problem } from './diagnostic.ts';
import type { Located } from './located.ts';
import { looksLikeApiKey, type Span } from './mask-secrets.ts';

/** Keys under which people write the API key itself, without case and separators. */
const keyNames = new Set(['apikey', 'key', 'licensekey', 'userkey', 'newrelicapikey', 'token']);

const message = 'the API key must not be in this file';
const help =
  'put the key into a file and name it with "api_key_file", or into an environment variable and name that with "api_key_env"';

/** What {@link findSecrets} found. */
export interface FoundSecrets {
  readonly problems: readonly Problem[];
  /** What must never be printed. */
  readonly spans: readonly Span[];
}

/** Whether people write an API key itself under this key. */
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
        // A label may have any of these names.
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
 * Finds API keys that stand in the file: under the name of a key, or by the way they begin. Aliases
 * are followed, so that the same place may be found twice.
 */
export function findSecrets(root: Located): FoundSecrets {
  const found = { problems: [], spans: [] };
  visit(root, found);
  return found;
}
