import { variableHelp } from './suggestion.ts';
import {
  type Found,
  type PlainMap,
  scalarsIn,
  textsIn,
  type YamlDocument,
} from './yaml-document.ts';

/** What a name may have, and a star: a regular expression for any text would have a dot before it. */
const glob = /^\^?[\w /:-]+\*[\w /:*-]*$/u;
/** What regular expressions have, and hardly a name. */
const signs = /^\^.|^\(\?|\.\+|\\[.\w]|\w\$$|\[[^\]]+-[^\]]+\][+*]|\(.*\|.*\)/u;
/** With a sign of regular expressions, or flags behind it: there may be names with slashes. */
const inSlashes = /^\/(?=.*[$^*+?|()[\]\\]|.*\/(?:i|g|gi|ig)$)(.+)\/(i|g|gi|ig)?$/u;
const star = 'has a star, which stands for itself';
const withoutSlashes = (_: string, pattern: string, flags = ''): string =>
  `${flags.includes('i') ? '(?i)' : ''}${pattern}`;

/** What is probably read otherwise than it is meant: under which keys, why, and what to write. */
const misread: readonly (readonly [RegExp, RegExp, why: string, help: (text: string) => string])[] =
  [
    [/^name$/u, /\*/u, star, () => 'write "match" and a regular expression'],
    [/^metric$/u, /\*/u, star, () => 'newrelic-exporter metrics APP -o yaml has a line for each'],
    [
      /^name$/u,
      signs,
      'looks like a regular expression, but is compared as it is',
      (text) => `write match: ${JSON.stringify(text)}`,
    ],
    [
      /^name$/u,
      /^\s|\s$/u,
      'has blanks around it, which count',
      (text) => `write name: ${JSON.stringify(text.trim())}`,
    ],
    [
      /^(?:match|exclude)$/u,
      glob,
      'has a star, which repeats the character before it or leaves it out',
      (text) => `for any text write ".*": ${JSON.stringify(text.replaceAll('*', '.*'))}`,
    ],
    [
      /^(?:match|exclude)$/u,
      inSlashes,
      'stands between slashes, which are looked for in the name',
      (text) => `write ${JSON.stringify(text.replace(inSlashes, withoutSlashes))}`,
    ],
  ];

/** Names that are meant as patterns, patterns as other programs write them, and variables. */
export function misreadings({ written }: { readonly written: PlainMap }): readonly Found[] {
  return textsIn(written).flatMap(({ text, path }): readonly Found[] => {
    const key = String(path.findLast((step) => typeof step === 'string'));
    // A label may have this name, too.
    const isOther = key === 'name' && path.length !== 3;
    const [, , why, help] =
      misread.find(([keys, texts]) => !isOther && keys.test(key) && texts.test(text)) ?? [];
    if (why !== undefined) return [[path, `"${key}" ${why}`, help?.(text)]];
    // What stands in these, others say, or nobody may see.
    const variables = /^nrql$|^include$|^proxy_url/u.test(key) ? undefined : variableHelp(text);
    return variables === undefined ? [] : [[path, `"${key}" has a variable in it`, variables]];
  });
}

const mayHoldSign: ReadonlySet<string> = new Set(['name', 'match', 'nrql', 'help']);
/** A sign that may be meant: comments have a blank behind it, and often two before it. */
const likelyText = /^(?: #|[ \t]+#\S).*/u;
const surelyText = /^[ \t]+#\S.*/u;
const inCurlyQuotes = /^[\u2018-\u201F].*[\u2018-\u201F]$/su;
const longestProposal = 60;

/** Texts that YAML cuts, or that a word processor has put in quotes. */
export function* changedTexts(document: YamlDocument): Iterable<Found> {
  for (const { value, span, path } of scalarsIn(document)) {
    if (typeof value !== 'string') continue;
    const { text } = span.file;
    const key = path.findLast((step) => typeof step === 'string') ?? '';
    const quoted = (whole: string): string => `${key}: ${JSON.stringify(whole)}`;
    const isCut = mayHoldSign.has(key) && !/["'|>]/u.test(text.charAt(span.start));
    const sign = path[0] === 'accounts' ? surelyText : likelyText;
    const rest = isCut ? sign.exec(text.slice(span.end))?.[0] : undefined;
    if (rest !== undefined) {
      const message = `"${key}" ends before " #", where a comment begins`;
      const whole = value + rest.trimEnd();
      const help = `write ${quoted(whole)}, or ${quoted(value)} before a comment`;
      yield [path, message, whole.length > longestProposal ? 'put it in quotes' : help];
    }
    // The reader of NRQL says so itself.
    if (key === 'nrql' || !inCurlyQuotes.test(value)) continue;
    const message = `"${key}" has curly quotes, which are a part of it`;
    yield [path, message, `write ${quoted(value.slice(1, -1))}`];
  }
}
