import { parseArgs } from 'node:util';
import { didYouMean } from '../config/suggestion.ts';
import { type Command, commands, environmentVariableOf, type Flag } from './flag.ts';
import { flagTable } from './flag-table.ts';
import type { Flags } from './flags.ts';
import { quote, refuseKeys } from './key-arguments.ts';
import { UsageError } from './usage-error.ts';

/** What the command line asks for. `error` means exit code 2. */
export type Arguments =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly flags: Flags;
      /** What follows the command; the FILE of a command that takes one is also `flags.configFile`. */
      readonly operands: readonly string[];
    }
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' }
  | { readonly kind: 'error'; readonly message: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** One `--name=value`, as it was written. */
interface Option {
  readonly name: string;
  readonly value: string | undefined;
  /** False for a value that is the argument after the flag. */
  readonly isInline: boolean;
  /** The whole argument up to `=`. */
  readonly written: string;
}

interface Words {
  readonly options: readonly Option[];
  readonly positionals: readonly string[];
}

const flagList: readonly Flag<unknown>[] = Object.values(flagTable);
const switchNames: readonly string[] = ['help', 'version'];
/** The commands that take the configuration file as an operand too. */
const takingFile: ReadonlySet<Command> = new Set(['check-config', 'plan', 'discover']);

/**
 * Reads the arguments (without the program's own name) and the environment variables that stand for
 * flags. A flag wins over its variable. An API key is refused, and no message repeats one.
 */
export function parseArguments(argv: readonly string[], env: Environment): Arguments {
  try {
    refuseKeys(argv);
    const words = splitWords(argv);
    const [first, ...operands] = words.positionals;
    const command = commands.find((candidate) => candidate === first);
    if (words.options.some(({ name }) => name === 'help')) return { kind: 'help', command };
    if (words.options.some(({ name }) => name === 'version')) return { kind: 'version' };
    checkOptions(words.options);
    if (first !== undefined && command === undefined) throw unknownCommand(first);
    return run(command ?? 'serve', words.options, operands, env);
  } catch (error) {
    if (error instanceof UsageError) return { kind: 'error', message: error.message };
    throw error;
  }
}

function run(
  command: Command,
  options: readonly Option[],
  operands: readonly string[],
  env: Environment,
): Arguments {
  const [file, ...others] = operands;
  const surplus = takingFile.has(command) ? others[0] : file;
  if (surplus !== undefined) {
    throw new UsageError(`${command}: unexpected argument ${quote(surplus)}`);
  }
  const isFileTwice = file !== undefined && options.some(({ name }) => name === 'config.file');
  if (isFileTwice) {
    throw new UsageError(`${command}: give the file either as FILE or as --config.file, not both`);
  }
  for (const { name } of options) checkBelongs(name, command);
  const flags = readFlags(command, options, env);
  return {
    kind: 'run',
    command,
    flags: file === undefined ? flags : { ...flags, configFile: file },
    operands,
  };
}

/**
 * Splits without parseArgs' own strictness: its messages would repeat values, know no suggestions
 * and speak of options.
 */
function splitWords(argv: readonly string[]): Words {
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
      ...Object.fromEntries(
        flagList.map(({ name, short, isSwitch }) => [
          name,
          {
            type: isSwitch === true ? ('boolean' as const) : ('string' as const),
            ...(short === undefined ? {} : { short }),
          },
        ]),
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

function checkOptions(options: readonly Option[]): void {
  for (const { name, value, isInline, written } of options) {
    const flag = flagList.find((candidate) => candidate.name === name);
    if (flag === undefined) throw unknownFlag(written);
    if (value === undefined && flag.isSwitch !== true) {
      throw new UsageError(`${written} needs a value: ${usageOf(flag)}`);
    }
    if (!isInline && value?.startsWith('-') === true) {
      throw new UsageError(
        `${written} needs a value; if ${quote(value)} is meant to be it, write ${written}=VALUE`,
      );
    }
    const count = options.filter((option) => option.name === name).length;
    if (count > 1 && !flag.isRepeatable) throw new UsageError(`${written} is given ${count} times`);
  }
}

function usageOf(flag: Flag<unknown>): string {
  return `--${flag.name}=${flag.defaultText}`;
}

function checkBelongs(name: string, command: Command): void {
  const flag = flagList.find((candidate) => candidate.name === name);
  if (flag === undefined || flag.commands.includes(command)) return;
  const others = flag.commands.join(', ');
  throw new UsageError(`--${name} has no meaning for ${command}, only for: ${others}`);
}

function readFlags(command: Command, options: readonly Option[], env: Environment): Flags {
  const all = <Value>(flag: Flag<Value>): readonly Value[] => {
    const given = options.filter(({ name }) => name === flag.name);
    if (given.length > 0) {
      return distinct(
        `--${flag.name}`,
        given.map(({ value }) => parseValue(flag, `--${flag.name}`, value ?? 'true')),
      );
    }
    const variable = environmentVariableOf(flag);
    const text = flag.commands.includes(command) ? textFrom(env[variable]) : undefined;
    if (text === undefined) return [parseValue(flag, `--${flag.name}`, flag.defaultText)];
    const texts = flag.isRepeatable ? splitList(variable, text) : [text.trim()];
    return distinct(
      variable,
      texts.map((part) => parseValue(flag, variable, part)),
    );
  };
  // Every flag has a value: without one given, its default.
  const last = <Value>(flag: Flag<Value>): Value =>
    all(flag).at(-1) ?? parseValue(flag, `--${flag.name}`, flag.defaultText);
  return {
    configFile: last(flagTable.configFile),
    listenAddresses: all(flagTable.listenAddresses),
    telemetryPath: last(flagTable.telemetryPath),
    maxRequests: last(flagTable.maxRequests),
    autoReloadIntervalMs: last(flagTable.autoReloadInterval),
    configWait: last(flagTable.configWait),
    enableLifecycle: last(flagTable.enableLifecycle),
    respawn: last(flagTable.respawn),
    shard: last(flagTable.shard),
    totalShards: last(flagTable.totalShards),
    hostName: last(flagTable.hostName),
    logLevel: last(flagTable.logLevel),
    logFormat: last(flagTable.logFormat),
    online: last(flagTable.online),
    output: last(flagTable.output),
    planApplicationsPerMatch: last(flagTable.planApplicationsPerMatch),
    planHostsPerApplication: last(flagTable.planHostsPerApplication),
    replicas: last(flagTable.replicas),
    demoApplications: last(flagTable.demoApplications),
    demoHosts: last(flagTable.demoHosts),
    demoPort: last(flagTable.demoPort),
    healthcheckUrl: last(flagTable.healthcheckUrl),
  };
}

function splitList(variable: string, text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.includes('')) return parts;
  throw new UsageError(
    `${variable}: ${quote(text)} has a comma with no value beside it: remove the comma`,
  );
}

/** Each value is another one, except those of which the system makes different ones. */
function distinct<Value>(origin: string, values: readonly Value[]): readonly Value[] {
  const repeated = values.find(
    (value, index) => values.indexOf(value) !== index && !String(value).endsWith(':0'),
  );
  if (repeated === undefined) return values;
  throw new UsageError(`${origin}: ${quote(String(repeated))} is given more than once`);
}

/** An empty variable is one that is not set. */
function textFrom(variable: string | undefined): string | undefined {
  if (variable === undefined || variable.trim() === '') return undefined;
  // Kubernetes sets NEWRELIC_EXPORTER_DEMO_PORT=tcp://... beside a service newrelic-exporter-demo.
  return variable.startsWith('tcp://') ? undefined : variable;
}

function parseValue<Value>(flag: Flag<Value>, origin: string, text: string): Value {
  const value = flag.parse(text);
  if (value === undefined) {
    throw new UsageError(`${origin}: ${quote(text)} is not valid: expected ${flag.expected}`);
  }
  return value;
}

function unknownFlag(written: string): UsageError {
  const names = [...flagList.map(({ name }) => name), ...switchNames];
  const near = didYouMean(
    `--${written.replace(/^-+/, '')}`,
    names.map((name) => `--${name}`),
  );
  return unknown(`unknown flag ${quote(written)}`, near);
}

function unknownCommand(word: string): UsageError {
  const isFile = /\.ya?ml$/i.test(word);
  const hint = isFile ? `for a configuration file write --config.file=FILE` : undefined;
  return unknown(`unknown command ${quote(word)}`, hint ?? didYouMean(word, commands));
}

function unknown(problem: string, hint: string | undefined): UsageError {
  return new UsageError(`${problem}: ${hint ?? 'newrelic-exporter --help lists what there is'}`);
}
