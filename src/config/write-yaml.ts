/** A value that a configuration file may hold. */
export type FileValue =
  | string
  | number
  | bigint
  | boolean
  | readonly FileValue[]
  | { readonly [key: string]: FileValue };

/** Texts that mean themselves in YAML without quotes: no number, no word such as `null`, no mark. */
const plain =
  /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z/][a-z0-9_./-]*(?: [a-z0-9_./-]+)*$/iu;
/** A duration. */
const duration = /^\d+(?:h|m|s|ms)(?:\d+(?:m|s|ms))*$/u;
/** An address of an API or a proxy, perhaps without its login. */
const address = /^https?:\/\/(?:\[redacted\]@)?[a-z0-9.:/-]+[a-z0-9]$/iu;

/**
 * Writes YAML in block style, ending with a newline. The library would take almost a second for ten
 * thousand entries, in which nothing else could run.
 */
export function writeYaml(value: { readonly [key: string]: FileValue }): string {
  return isBlock(value) ? linesOf(value, '') : '{}\n';
}

function linesOf(value: FileValue, indent: string): string {
  if (Array.isArray(value)) {
    let text = '';
    for (const item of value as readonly FileValue[])
      text += `${indent}- ${itemText(item, indent)}`;
    return text;
  }
  let text = '';
  for (const [key, member] of Object.entries(value)) {
    text += `${indent}${scalarText(key)}:${memberText(member, indent)}`;
  }
  return text;
}

function memberText(member: FileValue, indent: string): string {
  return isBlock(member) ? `\n${linesOf(member, `${indent}  `)}` : ` ${scalarText(member)}\n`;
}

/** A map begins in the line of its dash. */
function itemText(item: FileValue, indent: string): string {
  return isBlock(item) ? linesOf(item, `${indent}  `).trimStart() : `${scalarText(item)}\n`;
}

function isBlock(value: FileValue): boolean {
  return typeof value === 'object' && Object.keys(value).length > 0;
}

function scalarText(value: FileValue): string {
  if (typeof value === 'object') return Array.isArray(value) ? '[]' : '{}';
  if (typeof value !== 'string') return String(value);
  const isPlain = plain.test(value) || duration.test(value) || address.test(value);
  // What JSON writes in quotes, YAML reads.
  return isPlain ? value : JSON.stringify(value);
}
