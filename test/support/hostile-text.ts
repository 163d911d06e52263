import fc from 'fast-check';

/** What has a meaning in HTML, in a terminal, or for the direction of writing. */
const troublesome = [
  '<',
  '>',
  '&',
  '"',
  "'",
  '`',
  '=',
  '/',
  ' ',
  '\n',
  '\r',
  '\t',
  '</script>',
  '</title>',
  '<!--',
  '-->',
  ']]>',
  '&lt;',
  '&#0;',
  '\u0000',
  '\u0007',
  '\u001b[31m',
  '\u009b',
  '\u202e',
  '\u2066',
  '\u200b',
  '\ufeff',
  '\ud800',
  '\u05d0',
  '😀',
];

/** Any text that New Relic, an agent or a configuration may hold. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...troublesome),
      fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

/** The same without halves of surrogate pairs, which no address can hold. */
export const hostileQuery: fc.Arbitrary<string> = hostileText.map((text) =>
  text.replaceAll(/\p{Surrogate}/gu, '\ufffd'),
);
