const maxLength = 120;

// Far more than is ever shown, so that a page of several megabytes costs nothing.
const examinedLength = 4000;

/**
 * The beginning of a foreign text in a form fit for one line of a log: no control, formatting or
 * unpaired surrogate characters, white space collapsed, at most 120 characters.
 *
 * A gateway may repeat in its answer what it was sent. So anything that looks like a key (`NRAK-…`
 * or a long run of key characters) is replaced before the text is shortened.
 */
export function excerptOf(text: string): string {
  const clean = text
    .slice(0, examinedLength)
    .replace(/NR[A-Z]{2}-[\w-]*|[\w-]{32,}/gi, '[removed]')
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim();
  const characters = Array.from(clean);
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : clean;
}
