import { parseArgs } from 'node:util';
import { didYouMean } from '../config/suggestion.ts';
import { keyPrefix } from '../model/key-text.ts';
import { type Flags, flagTable } from './flag-table.ts';
import {
  bareTextOf,
  type Command,
  commands,
  type Environment,
  type Flag,
  isFor,
  type Option,
  quote,
  readFlags,
} from './flags.ts';
import { operandOf } from './operands.ts';
import { createProblems, type Problems, UsageError } from './usage-error.ts';

/** What the command line asks for. `error` means exit code 2. */
export type Arguments =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly flags: Flags;
      /** The words after the command; the FILE of a command that takes one is also `flags.configFile`. */
      readonly operands: readonly string[];
    }
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' }
  | { readonly kind: 'error'; readonly message: string };

interface RunWords {
  readonly options: readonly Option[];
  readonly operands: readonly string[];
  readonly env: Environment;
}

export interface Words {
  readonly options: readonly Option[];
  readonly positionals: readonly string[];
}

const flagList: readonly Flag<unknown>[] = Object.values(flagTable);
const switchNames: readonly string[] = ['help', 'version'];

/**
 * Reads the arguments (without the program's own name) and the environment variables that stand for
 * flags. A flag wins over its variable. An API key is refused, and no message repeats one.
 */
export function parseArguments(argv: readonly string[], env: Environment): Arguments {
  const problems = createProblems();
  const parsed = problems.collect(() => {
    refuseKeys(argv);
    return parseWords(splitWords(argv), env, problems);
  });
  const message = problems.message();
  if (parsed !== undefined && message === undefined) return parsed;
  return { kind: 'error', message: message ?? '' };
}

function parseWords(
  { options, positionals }: Words,
  env: Environment,
  problems: Problems,
): Arguments {
  const [first, ...operands] = positionals;
  const command = commandNamed(first);
  if (first === 'help') return helpOf(operands);
  if (first === 'version') return { kind: 'version' };
  if (options.some(({ name }) => name === 'help')) return { kind: 'help', command };
  if (options.some(({ name }) => name === 'version')) return { kind: 'version' };
  const named = options.map((option) => ({
    ...option,
    name: nameFor(option.name, command ?? 'serve'),
  }));
  const known = knownOptions(named, problems);
  for (const option of known) problems.collect(() => checkOption(option, known));
  if (first !== undefined && command === undefined) throw unknownCommand(first);
  return run(command ?? 'serve', { options: known, operands, env }, problems);
}

function commandNamed(word: string | undefined): Command | undefined {
  return commands.find((candidate) => candidate === word);
}

/** The command `help`, perhaps with the name of another command. */
function helpOf([word]: readonly string[]): Arguments {
  const command = commandNamed(word);
  if (word !== undefined && command === undefined) throw unknownCommand(word);
  return { kind: 'help', command };
}

/** The flag that an alias means for a command; any other name stays. */
function nameFor(name: string, command: Command): string {
  const meant = flagList.filter(({ alias }) => alias === name);
  return (meant.find(({ commands: its }) => its.includes(command)) ?? meant[0])?.name ?? name;
}

/** Such as `--api-key` or `--newrelic.license-key-file`. */
const keyFlag = /^--?(?:new-?relic[._-]?)?(?:api|user|license|ingest|insert)[._-]?key/i;
const keyValue = new RegExp(`^(?:--?[^=]*=|-+)?\\s*${keyPrefix}`, 'i');

/** Throws a `UsageError` that does not repeat the key if an argument is an API key or names one. */
function refuseKeys(argv: readonly string[]): void {
  if (!argv.some((argument) => keyFlag.test(argument) || keyValue.test(argument))) return;
  throw new UsageError(
    'an API key is not taken from the command line, where every user of this machine can read it: ' +
      'name its file in the configuration (api_key_file), or set the environment variable ' +
      'NEW_RELIC_API_KEY',
  );
}

function run(
  command: Command,
  { options, operands, env }: RunWords,
  problems: Problems,
): Arguments {
  problems.collect(() => checkOperands(command, operands));
  const file = operandOf(command)?.name === 'FILE' ? operands[0] : undefined;
  if (
    operands.length === 1 &&
    file !== undefined &&
    options.some(({ name }) => name === 'config.file')
  ) {
    problems.add(`${command}: give the file either as FILE or as --config.file, not both`);
  }
  for (const { name } of options) problems.collect(() => checkBelongs(name, command));
  const flags = readFlags(flagTable, command, { options, env, problems });
  return {
    kind: 'run',
    command,
    flags: file === undefined ? flags : { ...flags, configFile: file },
    operands,
  };
}

function checkOperands(command: Command, words: readonly string[]): void {
  const operand = operandOf(command);
  const [first] = words;
  const surplus = operand === undefined ? first : words[1];
  if (surplus !== undefined) {
    throw new UsageError(`${command}: unexpected argument ${quote(surplus)}`);
  }
  if (operand === undefined) return;
  const { name, isRequired, expected } = operand;
  if ((first === undefined || first === '') && isRequired) {
    throw new UsageError(`${command} needs an ${name}: ${expected}`);
  }
}

/**
 * Splits without the strict mode of parseArgs, whose messages would repeat values, make no suggestions
 * and say "option" for a flag.
 */
export function splitWords(argv: readonly string[]): Words {
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
      ...Object.fromEntries(
        flagList.flatMap((flag) => {
          const { name, alias = name, short } = flag;
          const type = bareTextOf(flag) === undefined ? ('string' as const) : ('boolean' as const);
          return [
            [alias, { type }],
            [name, short === undefined ? { type } : { type, short }],
          ];
        }),
      ),
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return {
    options: tokens
      .filter((token) => token.kind === 'option')
      .map(({ name, value, inlineValue, index }) => ({
        name,
        value,
        isInline: inlineValue === true,
        written: (argv[index] ?? name).replace(/=.*$/s, ''),
      })),
    positionals: tokens.filter((token) => token.kind === 'positional').map(({ value }) => value),
  };
}

/** Reports the flags that do not exist. `-config.file` reads as several flags of one letter each. */
function knownOptions(options: readonly Option[], problems: Problems): readonly Option[] {
  const others = options.filter(({ name }) => !flagList.some((flag) => flag.name === name));
  const words = new Set(others.map(({ written }) => written));
  for (const written of words) problems.add(unknownFlag(written).message);
  return options.filter(({ written }) => !words.has(written));
}

function checkOption(option: Option, options: readonly Option[]): void {
  const { name, value, isInline, written } = option;
  const flag = flagList.find((candidate) => candidate.name === name);
  if (flag === undefined) return;
  if (value === undefined && bareTextOf(flag) === undefined) {
    throw new UsageError(`${written} needs a value: ${usageOf(flag)}`);
  }
  if (!isInline && value?.startsWith('-') === true) {
    throw new UsageError(
      `${written} needs a value; if ${quote(value)} is meant to be it, write ${written}=VALUE`,
    );
  }
  const same = options.filter((other) => other.name === name);
  if (same.length > 1 && same[0] === option && flag.isRepeatable !== true) {
    throw new UsageError(`${written} is given ${same.length} times`);
  }
}

function usageOf(flag: Flag<unknown>): string {
  return `--${flag.name}=${flag.defaultText}`;
}

function checkBelongs(name: string, command: Command): void {
  const flag = flagList.find((candidate) => candidate.name === name);
  if (flag === undefined || isFor(flag, command)) return;
  const others = flag.commands.join(', ');
  throw new UsageError(`--${name} has no meaning for ${command}, only for: ${others}`);
}

function unknownFlag(written: string): UsageError {
  const names = [
    ...flagList.flatMap(({ name, alias }) => (alias === undefined ? name : [name, alias])),
    ...switchNames,
  ];
  const near = didYouMean(
    `--${written.replace(/^-+/, '')}`,
    names.map((name) => `--${name}`),
  );
  return unknown(`unknown flag ${quote(written)}`, near);
}

function unknownCommand(word: string): UsageError {
  const near = didYouMean(word, [...commands, ...switchNames]);
  const hint = /\.ya?ml$/i.test(word) ? 'for a configuration file write --config.file=FILE' : near;
  return unknown(`unknown command ${quote(word)}`, hint);
}

function unknown(problem: string, hint: string | undefined): UsageError {
  return new UsageError(`${problem}: ${hint ?? 'newrelic-exporter --help lists what there is'}`);
}
