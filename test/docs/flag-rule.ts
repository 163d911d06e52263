import { environmentVariableOf, type Flag } from '../../src/cli/flags.ts';
import { codeWordsIn, rowsWith } from './markdown.ts';

export type FlagFacts = Pick<Flag<unknown>, 'name' | 'defaultText' | 'commands'>;

/** Where the tables of flags differ from the flags: names, defaults, variables, commands. */
export function flagProblems(text: string, flags: readonly FlagFacts[]): readonly string[] {
  const rows = rowsWith(text, ['flag', 'default', 'environment variable', 'commands']);
  const names = rows.flatMap((row) => codeWordsIn(row.flag));
  return [
    ...flags.flatMap((flag) => {
      const row = rows.find((candidate) => candidate.flag === `\`--${flag.name}\``);
      if (row === undefined) return [`--${flag.name} is not documented`];
      const variable = environmentVariableOf(flag);
      return [
        ...(row.default === defaultCell(flag) ? [] : [`--${flag.name}: wrong default`]),
        ...(row['environment variable'] === (variable === undefined ? 'none' : `\`${variable}\``)
          ? []
          : [`--${flag.name}: wrong variable`]),
        ...(row.commands === flag.commands.join(', ') ? [] : [`--${flag.name}: wrong commands`]),
      ];
    }),
    ...names
      .filter((name) => !flags.some((flag) => `--${flag.name}` === name))
      .map((name) => `${name} does not exist`),
  ];
}

function defaultCell({ defaultText }: FlagFacts): string {
  return defaultText === '' ? 'none' : `\`${defaultText}\``;
}

/** A command of another program with its continuation lines, or one in a line of prose. */
const foreignCommand =
  /^ *(?:docker|buildah|chromium|cosign|gh|git|helm|kubectl|mimirtool|promtool|npm (?:install|publish|version)|npx|(?:sudo )?systemctl|journalctl) (?:.*\\\n)*.*$|`(?:[A-Z_]+=\w+ )*(?:docker|buildah|cosign|gh|git|helm|kubectl|mimirtool|promtool|npm (?:install|publish|version)|npx|(?:sudo )?systemctl|journalctl) [^`]*`/gm;

/** Flags of ours that a text names, in prose or in code. */
export function flagsNamedIn(text: string): readonly string[] {
  return [...text.replaceAll(foreignCommand, '').matchAll(/(?<![\w-])--([a-z][\w.-]*\w)/g)].map(
    ([, name = '']) => name,
  );
}

/** Environment variables of ours that a text names. */
export function variablesNamedIn(text: string): readonly string[] {
  return [...text.matchAll(/\bNEWRELIC_EXPORTER_\w+/g)].map(([name]) => name);
}
