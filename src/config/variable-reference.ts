/** What other programs replace: `${NAME}` or `$(NAME)` anywhere, or `$NAME` as the whole text. */
const forms: readonly RegExp[] = [
  /\$\{(?<name>[A-Za-z_]\w*)(?::?[-=?+][^}]*)?\}/u,
  /\$\((?<name>[A-Za-z_]\w*)\)/u,
  /^\$(?<name>[A-Za-z_]\w*)$/u,
];

/** What to do about a variable that nobody replaces. */
export const variableHelp =
  'write the value itself, or let another program such as envsubst fill in the file';

/** The first environment variable that a text refers to, as `$NAME`; `undefined` if it has none. */
export function variableReference(text: string): string | undefined {
  // Most texts have none, and there may be thousands of them.
  if (!text.includes('$')) return undefined;
  const names = forms.map((form) => form.exec(text)?.groups?.['name']);
  const name = names.find((one) => one !== undefined);
  return name === undefined ? undefined : `$${name}`;
}
