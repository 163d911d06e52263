import { parseArguments } from '../../src/cli/arguments.ts';
import { flagTable } from '../../src/cli/flag-table.ts';
import { environmentVariableOf, type Flag } from '../../src/cli/flags.ts';
import { codeBlocksIn, codeWordsIn, withoutCodeBlocks } from './markdown.ts';

/** A run of the exporter that a document shows: as it is written there, and its arguments. */
export interface DocumentedRun {
  readonly written: string;
  readonly arguments: readonly string[];
}

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'console', 'text']);

/** Words, quotes removed; operators such as `|` and `&&` are words of their own. */
export function shellWordsIn(line: string): readonly string[] {
  const words = line.matchAll(/#.*$|&&|\|\|?|;|[<>]+|(?:'[^']*'|"[^"]*"|\\.|[^\s'"|;&<>])+/g);
  return [...words]
    .map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
    .filter((word) => !word.startsWith('#'));
}

const operator = /^(?:&&|\|\|?|;|[<>]+)$/;

/** The commands of a line of a shell, each as its words without variables that are set for it. */
function commandsOf(line: string): readonly (readonly string[])[] {
  const found: string[][] = [[]];
  for (const word of shellWordsIn(line)) {
    if (operator.test(word)) found.push([]);
    else found.at(-1)?.push(word);
  }
  return found.map((words) => {
    const first = words.findIndex((word) => !/^(?:[A-Za-z_]\w*=|exec$|sudo$)/.test(word));
    return first === -1 ? [] : words.slice(first);
  });
}

/** The arguments if the words run the exporter: by its name, by Node.js or in a container. */
function argumentsIn(words: readonly string[]): readonly string[] | undefined {
  if (words.slice(0, 3).join(' ') === 'npm run demo') return ['demo', ...words.slice(4)];
  // The last one: a container may have the name of its image.
  const program = words.findLastIndex((word) =>
    /(?:^|\/)newrelic-exporter(?:\.mjs)?$|dist\/main\.js$/.test(word),
  );
  if (program === -1) return undefined;
  const [runner] = words;
  const isRun = program === 0 || runner === 'node' || runner === 'npx';
  const isContainer = runner === 'docker' && words[1] === 'run';
  return isRun || isContainer ? words.slice(program + 1) : undefined;
}

function runsOf(line: string): readonly DocumentedRun[] {
  return commandsOf(line).flatMap((words) => {
    const found = argumentsIn(words);
    return found === undefined ? [] : [{ written: line.trim(), arguments: found }];
  });
}

/** Lines of shell blocks, put together where they continue; of transcripts, those behind `$`. */
function shellLinesIn(text: string): readonly string[] {
  return codeBlocksIn(text)
    .filter(({ language }) => shells.has(language))
    .flatMap(({ language, text: body }) => {
      const lines = body.replaceAll(/\\\n\s*/g, ' ').split('\n');
      if (language === 'sh' || language === 'bash') return lines;
      return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
    });
}

/** Every command in the blocks of shell of a document, as its words. */
export function shellCommandsIn(text: string): readonly (readonly string[])[] {
  return shellLinesIn(text).flatMap(commandsOf);
}

/** Every run of the exporter in a document: in blocks of shell, and in backticks. */
export function runsIn(text: string): readonly DocumentedRun[] {
  const prose = withoutCodeBlocks(text).replaceAll(/\s*\n\s*/g, ' ');
  return [...shellLinesIn(text), ...codeWordsIn(prose)].flatMap(runsOf);
}

/** Placeholders: an optional operand is given, `COMMAND` is any command, `N` any number. */
function withoutPlaceholders(words: readonly string[]): readonly string[] {
  return words
    .map((word) => /^\[(\w+)\]$/.exec(word)?.[1] ?? word)
    .map((word) => (word === 'COMMAND' ? 'serve' : word.replace(/=N$/, '=1')));
}

/** What the real parser has against a run; `undefined` if nothing. */
export function complaintAbout({ arguments: words }: DocumentedRun): string | undefined {
  const parsed = parseArguments(withoutPlaceholders(words), {});
  return parsed.kind === 'error' ? parsed.message : undefined;
}

/** Flags with a value, in prose: what the real parser has against them. */
export function flagValueComplaints(text: string): readonly string[] {
  const flags: readonly Flag<unknown>[] = Object.values(flagTable);
  return codeWordsIn(withoutCodeBlocks(text).replaceAll(/\s*\n\s*/g, ' '))
    .filter((word) => /^--[\w.-]+=\S+$/.test(word))
    .flatMap((word) => {
      const flag = flags.find(({ name }) => word.startsWith(`--${name}=`));
      const [command] = flag?.commands ?? [];
      if (command === undefined) return [];
      const parsed = parseArguments([command, word], {});
      return parsed.kind === 'error' ? [parsed.message] : [];
    });
}

/** Variables with a value, such as `NEWRELIC_EXPORTER_SHARD=0`: what the real parser has against them. */
export function variableComplaints(text: string): readonly string[] {
  const flags: readonly Flag<unknown>[] = Object.values(flagTable);
  return [...text.matchAll(/\b(NEWRELIC_EXPORTER_\w+)=([^\s`'"]+)/g)].flatMap(
    ([, variable = '', value = '']) => {
      const flag = flags.find((candidate) => environmentVariableOf(candidate) === variable);
      const [command] = flag?.commands ?? [];
      if (command === undefined) return [];
      const parsed = parseArguments([command], { [variable]: value });
      return parsed.kind === 'error' ? [parsed.message] : [];
    },
  );
}
