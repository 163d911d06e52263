/** A strict reader of the HTML that our pages consist of; what they never hold is an error. */
export interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function decoded(text: string): string {
  const bare = text.replaceAll(/&(?:amp|lt|gt|quot|#39);/gu, '');
  if (/[<>&"]/u.test(bare)) throw new Error(`not escaped: ${text.slice(0, 200)}`);
  return text.replaceAll(/&[^;]+;/gu, (entity) => entities[entity] ?? entity);
}

const tagPattern = /<(\/?[a-z][a-z0-9]*|!DOCTYPE)((?: [a-z:A-Z-]+(?:="[^"]*")?)*)\/?>/gu;

function attributesOf(text: string): Readonly<Record<string, string>> {
  const found = [...text.matchAll(/ ([a-z:A-Z-]+)(?:="([^"]*)")?/gu)];
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, decoded(value)]));
}

/** The style is ours and holds characters that texts may not. */
const withoutStyle = (page: string): string =>
  page.replace(/<style>[^<]*<\/style>/u, '<style></style>');

/** All tags with their attributes. Throws if anything between them is not plain, escaped text. */
export function tagsOf(page: string): readonly Tag[] {
  const text = withoutStyle(page);
  let end = 0;
  const tags = [...text.matchAll(tagPattern)].map((match) => {
    // A quote does no harm between tags.
    decoded(text.slice(end, match.index).replaceAll('"', ''));
    end = match.index + match[0].length;
    return { name: match[1] ?? '', attributes: attributesOf(match[2] ?? '') };
  });
  decoded(text.slice(end));
  return tags;
}

/** The names of tags and attributes: what texts must not change. */
export function skeletonOf(page: string): readonly string[] {
  return tagsOf(page).map(({ name, attributes }) => [name, ...Object.keys(attributes)].join(' '));
}

/** What one reads on a page, in lines: a line for each block. */
export function textOf(page: string): string {
  const marked = withoutStyle(page)
    .replaceAll(/<\/(?:td|th|dd|dt|p|h1|h2|tr|li|pre|summary|caption|div|title)>/gu, '\n')
    .replaceAll(tagPattern, '');
  const lines = decoded(marked.replaceAll('"', '&quot;')).split('\n');
  return lines
    .map((line) => line.replaceAll(/\s+/gu, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
