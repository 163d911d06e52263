import { type Problem, warningAt } from './diagnostic.ts';
import type { Located, LocatedScalar } from './located.ts';
import { variableHelp, variableReference } from './variable-reference.ts';

/** In these a dollar sign has a meaning of its own. */
const patternKey = 'match';

interface NamedText {
  readonly key: string;
  readonly text: string;
  readonly scalar: LocatedScalar;
}

/** All texts of a file, each with the key that it belongs to. */
function textsOf(located: Located, key: string): readonly NamedText[] {
  switch (located.kind) {
    case 'scalar':
      return typeof located.value === 'string'
        ? [{ key, text: located.value, scalar: located }]
        : [];
    case 'list':
      return located.items.flatMap((item) => textsOf(item, key));
    case 'map':
      return [...located.entries.values()].flatMap((entry) => textsOf(entry.value, entry.key));
  }
}

/** A pattern such as `${NAME}` cannot match anything, while `^a$` or `$` is a pattern. */
function isReference(key: string, text: string): boolean {
  if (key === patternKey) return /^\$[{(]\w+[)}]$/u.test(text);
  return variableReference(text) !== undefined;
}

function variables(texts: readonly NamedText[]): readonly Problem[] {
  return texts.flatMap(({ key, text, scalar: { span } }) => {
    if (!isReference(key, text)) return [];
    const reference = variableReference(text) ?? text;
    const message = `"${key}" holds ${reference}, but variables are not replaced in this file`;
    return [warningAt(span, message, variableHelp)];
  });
}

/** Keys whose texts are compared or opened exactly as they are written. */
const exactKeys: ReadonlySet<string> = new Set([
  'name',
  'account',
  'api_key_file',
  'ca_file',
  'metric',
]);

function blanks(texts: readonly NamedText[]): readonly Problem[] {
  return texts.flatMap(({ key, text, scalar: { span } }) => {
    if (!exactKeys.has(key) || text === text.trim()) return [];
    const message = `"${key}" begins or ends with a blank, which counts`;
    return [warningAt(span, message, `if it is not meant, write ${JSON.stringify(text.trim())}`)];
  });
}

/** A regular expression between slashes, as JavaScript and other languages write it. */
const slashed = /^\/(?<body>.+)\/(?<flags>[a-z]*)$/u;

function slashes(texts: readonly NamedText[]): readonly Problem[] {
  return texts.flatMap(({ key, text, scalar: { span } }) => {
    const groups = key === patternKey ? slashed.exec(text)?.groups : undefined;
    if (groups === undefined) return [];
    const flags = groups['flags']?.includes('i') === true ? '(?i)' : '';
    const message = '"match" is between slashes, which are ordinary characters here';
    const help = `write ${JSON.stringify(`${flags}${groups['body'] ?? ''}`)}`;
    return [warningAt(span, message, help)];
  });
}

/** Texts that mean something else than in other programs' files. */
export function textWarnings(root: Located): readonly Problem[] {
  const texts = textsOf(root, '');
  return [...variables(texts), ...blanks(texts), ...slashes(texts)];
}
