import { isSeq } from 'yaml';
import { beginsLikeKey } from '../model/key-text.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import { isFileMap, type Span, spanOf, textsOf } from './yaml-node.ts';

/** Keys that people give the API key itself, in lower case and without separators. */
const keyNames = new Set(['apikey', 'key', 'licensekey', 'userkey', 'newrelicapikey', 'token']);

const message = 'the API key must not be in this file';
const help =
  'put the key into a file and name it with "api_key_file", or into an environment variable and name that with "api_key_env"';

export interface FoundSecrets {
  readonly problems: readonly Problem[];
  /** The places that must never be printed. */
  readonly spans: readonly Span[];
}

/** Whether people give this key to the API key itself. */
export function namesAKey(key: string): boolean {
  return keyNames.has(key.toLowerCase().replaceAll(/[-_. ]/gu, ''));
}

type Refuse = (at: Span, secret: Span) => void;

/** Looks into a value. A label may have one of the names that people give the key. */
function visit(node: unknown, areLabels: boolean, refuse: Refuse): void {
  if (isSeq(node)) {
    for (const item of node.items) visit(item, false, refuse);
  } else if (isFileMap(node)) {
    for (const { key, value } of node.items) {
      const span = spanOf(key);
      if (beginsLikeKey(key.value)) refuse(span, span);
      if (namesAKey(key.value) && !areLabels) refuse(span, value === null ? span : spanOf(value));
      else visit(value, key.value === 'labels', refuse);
    }
  } else {
    for (const { text, span } of textsOf(node)) if (beginsLikeKey(text)) refuse(span, span);
  }
}

/**
 * Finds API keys in the file: by the name of their key, or by how they begin. What several aliases stand
 * for is found as often.
 */
export function findSecrets(root: unknown): FoundSecrets {
  const problems: Problem[] = [];
  const spans: Span[] = [];
  visit(root, false, (at, secret) => {
    problems.push(errorAt(at, message, help));
    spans.push(secret);
  });
  return { problems, spans };
}
