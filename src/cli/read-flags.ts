import { flagTable } from './flag-table.ts';
import { type Command, environmentVariableOf, type Flag, type Flags } from './flags.ts';

/** The command line is wrong; the message says what and what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Such as `--api-key` or `--newrelic.license-key-file`. */
const keyFlag = /^--?(?:new-?relic[._-]?)?(?:api|user|license|ingest|insert)[._-]?key/i;
const keyValue = /^(?:--?[^=]*=|-+)?\s*NRAK-/i;

/** Throws a `UsageError`, which does not repeat it, if one of the arguments is a key or names one. */
export function refuseKeys(argv: readonly string[]): void {
  if (!argv.some((argument) => keyFlag.test(argument) || keyValue.test(argument))) return;
  throw new UsageError(
    'an API key is not taken from the command line, where every user of this machine can read it: ' +
      'name its file in the configuration (api_key_file), or set the environment variable ' +
      'NEW_RELIC_API_KEY',
  );
}

/** The text in quotes, on one line, without anything that looks like a key. */
export function quote(text: string): string {
  return JSON.stringify(text.replace(/NRAK-\S*/gi, '[redacted]'));
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** One `--name=value`, as it was written. */
export interface Option {
  readonly name: string;
  readonly value: string | undefined;
  /** False for a value that is the argument after the flag. */
  readonly isInline: boolean;
  /** The whole argument up to `=`. */
  readonly written: string;
}

/**
 * The values of all flags of a command: as given, else from the environment variable, else the
 * default. Throws a `UsageError` for a value that is not allowed.
 */
export function readFlags(command: Command, options: readonly Option[], env: Environment): Flags {
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
