/** What a PromQL expression names, found without a grammar: enough for expressions of this project. */

const strings = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;
const labelLists = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const keywords: ReadonlySet<string> = new Set(['and', 'or', 'unless', 'bool', 'offset']);
const aggregationHead = /\b(?:group_left|group_right|by|without|on|ignoring)\b/g;

function withoutStrings(expression: string): string {
  return expression.replaceAll(strings, '""').replaceAll(/#.*$/gm, '');
}

/** Names of series, each once, sorted. Of a recorded one the whole name, colons included. */
export function metricNamesIn(expression: string): readonly string[] {
  const bare = withoutStrings(expression)
    .replaceAll(labelLists, ' ')
    .replaceAll(aggregationHead, ' ')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\boffset\s+\S+/g, ' ');
  const names = [...bare.matchAll(/(?<![\w.$:])([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])/g)]
    .map(([, name = '']) => name)
    .filter((name) => !keywords.has(name));
  return [...new Set(names)].toSorted();
}
