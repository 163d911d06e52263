import { parseAst } from 'rolldown/parseAst';

/** Begins like a message: descriptions of settings begin with a capital letter, and code has no blanks. */
const messageLike = /^(?:[a-z"(]|YAML: |RE2 |NerdGraph |New Relic )/u;

interface SyntaxNode {
  readonly type: string;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function childrenOf(node: SyntaxNode): readonly unknown[] {
  return Object.entries(node).flatMap(([key, value]) => (key === 'parent' ? [] : [value].flat()));
}

/** The fixed parts of a text; what is put between them may be anything. */
type Parts = readonly string[];

function partsOf(node: SyntaxNode): Parts | undefined {
  if (node.type === 'Literal')
    return typeof node['value'] === 'string' ? [node['value']] : undefined;
  if (node.type !== 'TemplateLiteral') return undefined;
  const quasis: unknown = node['quasis'];
  return Array.isArray(quasis)
    ? quasis.map((quasi: { value: { cooked: string } }) => quasi.value.cooked)
    : undefined;
}

function isMessage(parts: Parts): boolean {
  const text = parts.join('');
  return messageLike.test(parts.find((part) => part !== '') ?? '') && /[a-z"] [a-z"]/u.test(text);
}

function collect(value: unknown, found: Parts[]): void {
  if (!isNode(value)) return;
  if (value.type === 'ImportDeclaration' || value.type.startsWith('TS')) {
    // Expressions inside of types, such as `as const`, still hold texts.
    if (!value.type.endsWith('Expression')) return;
  }
  const parts = partsOf(value);
  if (parts !== undefined && isMessage(parts)) found.push(parts);
  for (const child of childrenOf(value)) collect(child, found);
}

/** A text of the code that is shown to users, as a pattern for what is shown. */
export interface MessageText {
  readonly written: string;
  readonly pattern: RegExp;
}

/** All texts in the code of a file that look like parts of a message. */
export function messageTextsIn(code: string): readonly MessageText[] {
  const found: Parts[] = [];
  collect(parseAst(code, { lang: 'ts' }), found);
  return found.map((parts) => {
    const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`));
    return { written: parts.join('${…}'), pattern: new RegExp(escaped.join('.*'), 'u') };
  });
}
