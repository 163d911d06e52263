import { CommanderError, Option, Command as Parser } from 'commander';
import { didYouMean } from '../config/suggestion.ts';
import { keyPrefix } from '../model/key-text.ts';
import { own } from '../model/own.ts';
import { printable } from '../model/shown-text.ts';
import { type Command, commandNamed, commands, factsOf } from './commands.ts';
import { type Flags, flagTable } from './flag-table.ts';
import { environmentVariableOf, type Flag, isFor, quote, withoutSecrets } from './flags.ts';

/** What the command line asks for. `error` means exit code 2. */
export type Arguments =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly flags: Flags;
      /** The flags of the command as they are written, in the order of the help. */
      readonly settings: readonly FlagSetting[];
      /** The word after the command, or nothing; the FILE of a command that takes one is also `flags.configFile`. */
      readonly operand: string;
    }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  | { readonly kind: 'error'; readonly message: string };

/** A flag of a command, and where its value comes from. */
export interface FlagSetting {
  readonly flag: Flag<unknown>;
  /** As they are written; one, unless the flag may be repeated. */
  readonly texts: readonly string[];
  readonly origin: 'flag' | 'environment' | 'default';
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The command line is wrong; the message says what and what to write instead. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

const flagList: readonly Flag<unknown>[] = Object.values(flagTable);
const helpWidth = 100;
const footer = [
  '',
  'Exit codes: 0 success, 1 failure, 2 wrong usage or configuration,',
  '130 and 143 interrupted by SIGINT and SIGTERM.',
  'API keys come from the files or environment variables that the configuration',
  'names, by default NEW_RELIC_API_KEY; never from a flag.',
].join('\n');

/**
 * Reads the arguments (without the program's own name) and the environment variables that stand for
 * flags. A flag wins over its variable. An API key is refused, and no message repeats one.
 */
export function parseArguments(argv: readonly string[], env: Environment): Arguments {
  const written: string[] = [];
  const given: GivenFlags = new Map();
  let parsed: { readonly command: Command; readonly operand: string | undefined } | undefined;
  const words = withCommandFirst(argv);
  const parser = parserFor(words, given, {
    write: (text) => written.push(text),
    run: (command, operand) => {
      parsed = { command, operand };
    },
  });
  try {
    refuseKeys(argv);
    parser.parse(words, { from: 'user' });
    if (parsed === undefined) throw new UsageError('there is no command');
    return commandRun(parsed.command, parsed.operand, given, env);
  } catch (error) {
    if (error instanceof UsageError) return { kind: 'error', message: error.message };
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.version') return { kind: 'version' };
    if (error.exitCode === 0) return { kind: 'help', text: written.join('') };
    return { kind: 'error', message: usageMessageOf(error, words) };
  }
}

/** The texts that each flag was given, by its name. */
type GivenFlags = Map<string, string[]>;

interface ParserEvents {
  readonly write: (text: string) => void;
  readonly run: (command: Command, operand: string | undefined) => void;
}

function parserFor(words: readonly string[], given: GivenFlags, events: ParserEvents): Parser {
  // Commander itself would end the process, and read flags from `process.env`.
  const root = new Parser('newrelic-exporter')
    .description(
      'Publishes metrics of New Relic APM applications and of their hosts to Prometheus.',
    )
    .helpOption('-h, --help', 'Show this help, or that of a command.')
    .version('', '-v, --version', 'Show the version.')
    .exitOverride()
    .configureHelp({ minWidthToWrap: 20 })
    .configureOutput({
      writeOut: events.write,
      writeErr: () => {},
      getOutHelpWidth: () => helpWidth,
    })
    .helpCommand('help [command]', 'Show the help of a command.')
    .addHelpText('after', `\n${flagsOfServe()}\n${footer}`);
  for (const command of commands) {
    const { operand, summary } = factsOf(command);
    const parser = root
      .command(command)
      .description(summary)
      .helpOption('-h, --help', 'Show this help.')
      .addHelpText('after', footer)
      .allowExcessArguments(false)
      .action((word: unknown) => {
        events.run(command, typeof word === 'string' ? word : undefined);
      });
    if (operand !== undefined) {
      const { name, isRequired, help } = operand;
      parser.argument(isRequired ? `<${name}>` : `[${name}]`, help);
    }
    for (const flag of flagList.filter((one) => isFor(one, command))) {
      parser.addOption(optionOf(flag, command, words, given));
    }
  }
  return root;
}

/** The flags of the daemon with their defaults, in lines that fit. */
function flagsOfServe(): string {
  const flags = flagList.filter((flag) => isFor(flag, 'serve'));
  const written = flags.map(({ name, defaultText }) => `--${name}=${defaultText}`).join(' ');
  const lines = written.replaceAll(/(.{1,90})(?: |$)/gu, '\n  $1');
  return `Flags of serve; "newrelic-exporter COMMAND --help" says what those of a command mean:${lines}`;
}

function optionOf(
  flag: Flag<unknown>,
  command: Command,
  words: readonly string[],
  given: GivenFlags,
): Option {
  const { name, short, alias, defaultText, bareText } = flag;
  const help = typeof flag.help === 'string' ? flag.help : (flag.help[command] ?? '');
  const names = [
    ...(short === undefined ? [] : [`-${short}`]),
    ...(alias === undefined ? [] : [`--${alias}`]),
    `--${name}`,
  ].join(', ');
  const value = bareText === undefined ? '<value>' : '[value]';
  const variable = environmentVariableOf(flag);
  return new Option(`${names} ${value}`, variable === undefined ? help : `${help} ($${variable})`)
    .default(defaultText, defaultText === '' ? 'none' : defaultText)
    .argParser((text) => {
      if (text.startsWith('-') && !words.some((word) => word.endsWith(`=${text}`))) {
        throw new UsageError(
          `--${name} needs a value; if ${quote(text)} is it, write --${name}=VALUE`,
        );
      }
      given.set(name, [...(given.get(name) ?? []), text]);
      return text;
    });
}

/** The words as Commander needs them: the command first, and every flag with its value. */
function withCommandFirst(argv: readonly string[]): readonly string[] {
  const words = argv.map((word) => {
    const bareText = flagNamed(word)?.bareText;
    return bareText === undefined ? word : `${word}=${bareText}`;
  });
  const [first, second = ''] = words;
  if (first === 'version') return ['--version'];
  // Commander would print the help of the program as an error.
  if (first === 'help' && /^\w/u.test(second) && commandNamed(second) === undefined)
    return [second];
  if (first?.startsWith('-') === false) return words;
  const at = words.findIndex(
    (word, index) =>
      commandNamed(word) !== undefined && flagNamed(words[index - 1] ?? '') === undefined,
  );
  if (at > 0) return [...words.slice(at, at + 1), ...words.slice(0, at), ...words.slice(at + 1)];
  const isHelp = words.some((word) => word === '-h' || word === '--help');
  return isHelp ? words : ['serve', ...words];
}

/** The flag that a word names without a value. */
function flagNamed(word: string): Flag<unknown> | undefined {
  return flagList.find(
    ({ name, alias, short }) =>
      word === `--${name}` ||
      (alias !== undefined && word === `--${alias}`) ||
      (short !== undefined && word === `-${short}`),
  );
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

/** What people write for commands and flags, and what they mean. */
const otherWords: readonly (readonly [written: RegExp, meant: string])[] = [
  [/\.ya?ml$/iu, 'for a configuration file write --config.file=FILE'],
  [/^(?:check|validate|lint|test)/u, 'did you mean "check-config"?'],
  [/^(?:run|start|server|daemon)$/u, 'did you mean "serve"?'],
  [/^(?:list|apps|applications|init)$/u, 'did you mean "discover"?'],
  [/^(?:show|dump|config)/u, 'did you mean "print-config"?'],
  [/^-+(?:c|f|config|file|conf)$/u, 'did you mean "--config.file"?'],
  [/^-+(?:p|port|listen|addr|address|web|web\.listen)$/u, 'did you mean "--web.listen-address"?'],
  [/^-+(?:log|verbose|debug|loglevel)$/u, 'did you mean "--log.level"?'],
];

function usageMessageOf({ code, message }: CommanderError, words: readonly string[]): string {
  if (code === 'commander.unknownOption') return unknownFlag(words);
  const text = printable(withoutSecrets(message.replace(/^error: /u, '').replace('\n', ' ')));
  if (code !== 'commander.unknownCommand') return text;
  const [, meant] = otherWords.find(([others]) => others.test(words[0] ?? '')) ?? [];
  return `${text}: ${meant ?? 'newrelic-exporter --help lists what there is'}`;
}

/** Commander compares with the value behind the flag, so it would hardly find a name that is near. */
function unknownFlag([command = '', ...words]: readonly string[]): string {
  const written = words.map((word) => word.replace(/=.*$/su, ''));
  const isKnown = (flag: Flag<unknown> | undefined): boolean =>
    flag?.commands.some((one) => one === command) === true;
  const unknown = written.find((word) => word.startsWith('-') && !isKnown(flagNamed(word))) ?? '';
  const elsewhere = flagNamed(unknown);
  if (elsewhere !== undefined) {
    return `${unknown} has no meaning for ${command}, only for: ${elsewhere.commands.join(', ')}`;
  }
  const names = flagList.flatMap(({ name, alias }) => [`--${name}`, `--${alias ?? name}`]);
  const [, meant] = otherWords.find(([others]) => others.test(unknown)) ?? [];
  const near =
    meant ?? didYouMean(`--${unknown.replace(/^-+/u, '')}`, [...names, '--help', '--version']);
  const help = `newrelic-exporter ${command} --help lists what there is`;
  return `unknown flag ${quote(unknown)}: ${near ?? help}`;
}

function commandRun(
  command: Command,
  operand: string | undefined,
  given: GivenFlags,
  env: Environment,
): Arguments {
  if (operand !== undefined && factsOf(command).operand?.name === 'FILE') {
    if (given.has('config.file')) {
      throw new UsageError(`${command}: give the file as FILE or as --config.file, not both`);
    }
    given.set('config.file', [operand]);
  }
  const settings = flagList
    .filter((flag) => isFor(flag, command))
    .map((flag) => settingOf(flag, given, env));
  const flags = flagsOf(settings);
  const { formats } = factsOf(command);
  if (!formats.includes(flags.output)) {
    const expected = formats.join(' or ');
    throw new UsageError(`${command}: --output=${flags.output}: expected ${expected}`);
  }
  return { kind: 'run', command, flags, settings, operand: operand ?? '' };
}

function settingOf(flag: Flag<unknown>, given: GivenFlags, env: Environment): FlagSetting {
  const texts = given.get(flag.name);
  if (texts !== undefined) {
    if (texts.length > 1 && flag.isRepeatable !== true) {
      throw new UsageError(`--${flag.name} is given ${texts.length} times`);
    }
    return { flag, texts, origin: 'flag' };
  }
  const variable = environmentVariableOf(flag);
  const text = variable === undefined ? undefined : textFrom(own(env, variable));
  if (text === undefined) return { flag, texts: [flag.defaultText], origin: 'default' };
  const parts = flag.isRepeatable === true ? text.split(',') : [text];
  return { flag, texts: parts.map((part) => part.trim()), origin: 'environment' };
}

/** An empty variable counts as not set. */
function textFrom(variable: string | undefined): string | undefined {
  if (variable === undefined || variable.trim() === '') return undefined;
  // Kubernetes sets NEWRELIC_EXPORTER_DEMO_PORT=tcp://... beside a service newrelic-exporter-demo.
  return variable.startsWith('tcp://') ? undefined : variable;
}

/** The values of all flags: those of other commands have their defaults. */
function flagsOf(settings: readonly FlagSetting[]): Flags {
  // Untyped pairs: Object.fromEntries cannot give each name the type of its value.
  const pairs: readonly (readonly unknown[])[] = Object.entries<Flag<unknown>>(flagTable).map(
    ([key, flag]) => {
      const setting = settings.find((one) => one.flag === flag);
      const values = flagValues(setting ?? { flag, texts: [flag.defaultText], origin: 'default' });
      return [key, flag.isRepeatable === true ? values : values[0]];
    },
  );
  return Object.fromEntries(pairs);
}

/** Repeated values are refused, except port 0: for that the system chooses different ports. */
function flagValues({ flag, texts, origin }: FlagSetting): readonly unknown[] {
  const variable = origin === 'environment' ? environmentVariableOf(flag) : undefined;
  const place = variable ?? `--${flag.name}`;
  const repeated = texts.find((text, at) => texts.indexOf(text) !== at && !text.endsWith(':0'));
  if (repeated !== undefined) {
    throw new UsageError(`${place}: ${quote(repeated)} is given more than once`);
  }
  return texts.map((text) => {
    const isEmpty = text === '' && origin === 'flag' && flag.bareText === undefined;
    const value = isEmpty ? undefined : flag.parse(text);
    if (value !== undefined) return value;
    throw new UsageError(`${place}: ${quote(text)} is not valid: expected ${flag.expected}`);
  });
}
