import type { AccountSource } from '../model/config.ts';
import { dayMs, minuteMs } from '../model/time.ts';
import { type LogFormat, type LogLevel, logFormats, logLevels } from '../publish/logger.ts';
import { type Command, type OutputFormat, outputFormats } from './commands.ts';
import {
  anyText,
  durationWithin,
  type Flag,
  type FlagValues,
  filePath,
  hostName,
  httpUrl,
  listenAddress,
  oneOf,
  onOrOff,
  pointInTime,
  type RepeatableFlag,
  shardNumber,
  telemetryPath,
  wholeNumber,
} from './flags.ts';

const serving: readonly Command[] = ['serve', 'demo'];
const logging: readonly Command[] = ['serve', 'once', 'demo'];
const asking: readonly Command[] = ['compare', 'backfill', 'verify'];

/** What `--faults` shows: each of the things that an operator has to know from the page. */
const someFaults = 'fail-app=Checkout,missing-app=Checkout (staging),429-every=3m';

/** The forms of all faults; `src/demo/fault-list.ts` says what they mean. */
export const faultUsages: string =
  'fail-app=APP, hang-app=APP, missing-app=APP, missing-host[=APP], first-metric[=APP], ' +
  'lost-metrics[=APP], 429-every=5m, slow=5s, html-502[=20%], reset[=20%], wrong-key[=2m]';

type SimulatorCommand = Extract<Command, 'demo' | 'simulate'>;

function applications(command: SimulatorCommand): Flag<number> {
  return {
    name: `${command}.applications`,
    defaultText: '12',
    help: 'Applications of the simulated account.',
    ...wholeNumber(1, 10_000),
    commands: [command],
  };
}

function hosts(command: SimulatorCommand): Flag<number> {
  return {
    name: `${command}.hosts`,
    defaultText: '48',
    help: 'Hosts of the simulated account, all applications together.',
    ...wholeNumber(0, 100_000),
    commands: [command],
  };
}

function port(command: SimulatorCommand, defaultText: string): Flag<number> {
  return {
    name: `${command}.port`,
    defaultText,
    help: 'Port of the simulated New Relic API on the loopback address; 0 means any free port.',
    ...wholeNumber(0, 65_535),
    commands: [command],
  };
}

function faults(command: SimulatorCommand): Flag<string> {
  return {
    name: `${command}.faults`,
    alias: 'faults',
    defaultText: '',
    bareText: someFaults,
    help: `What goes wrong at the simulated New Relic. A list, separated by commas: ${faultUsages}. Without a value: ${someFaults}.`,
    expected: 'a list of faults',
    // Read by the command: the daemon knows nothing of the simulator.
    parse: (text) => text,
    commands: [command],
  };
}

function moment(name: string, help: string): Flag<number> {
  return { name, help, ...pointInTime, commands: ['backfill'] };
}

function output(command: 'backfill' | 'verify', help: string): Flag<string> {
  return { name: `${command}.output`, alias: 'output', help, ...filePath, commands: [command] };
}

/** Declares every flag once, in the order of the help; `Flags` has the values under the same names. */
class DeclaredFlags {
  readonly configFile: Flag<string> = {
    name: 'config.file',
    defaultText: 'config.yaml',
    help: 'Configuration file.',
    expected: 'the path of a file',
    commands: ['serve', 'check-config', 'plan', 'discover', 'metrics', ...asking, 'once'],
    parse: (text) => (text === '' ? undefined : text),
  };
  readonly autoReloadIntervalMs: Flag<number> = {
    name: 'config.auto-reload-interval',
    defaultText: '30s',
    help: 'How often to check whether the configuration file has changed; 0 means never.',
    expected: 'a duration from 1s to 1d, such as 30s, or 0',
    commands: ['serve'],
    parse: (text) => (text === '0' ? 0 : durationWithin(1000, dayMs, text)),
  };
  readonly configWait: Flag<boolean> = {
    name: 'config.wait',
    help: 'Start even without a usable configuration or key, and wait for it instead of exiting.',
    ...onOrOff,
    commands: ['serve'],
  };
  readonly listenAddresses: RepeatableFlag<string> = {
    name: 'web.listen-address',
    defaultText: ':9126',
    help: 'Address to listen on. May be repeated; in the environment variable, separated by commas.',
    expected: '[host]:port, such as :9126, 127.0.0.1:9126 or [::1]:9126',
    isRepeatable: true,
    commands: serving,
    parse: listenAddress,
  };
  readonly webConfigFile: Flag<string> = {
    name: 'web.config.file',
    help: "File with TLS, passwords and headers of the exporter's own HTTP server, in the format of Prometheus' exporters.",
    ...filePath,
    commands: ['serve', 'check-config'],
  };
  readonly telemetryPath: Flag<string> = {
    name: 'web.telemetry-path',
    defaultText: '/metrics',
    help: 'Path of the metrics.',
    expected:
      'a path such as /metrics, without a slash at the end and not under /-/, /api/ or /config',
    commands: serving,
    parse: telemetryPath,
  };
  readonly maxRequests: Flag<number> = {
    name: 'web.max-requests',
    defaultText: '40',
    help: 'The most scrapes answered at the same time; one more ends the answer that has waited longest for its reader, or gets a 503.',
    ...wholeNumber(1, 10_000),
    commands: serving,
  };
  readonly enableLifecycle: Flag<boolean> = {
    name: 'web.enable-lifecycle',
    help: 'Allow a reload of the configuration by POST /-/reload.',
    ...onOrOff,
    commands: ['serve'],
  };
  readonly respawn: Flag<boolean> = {
    name: 'respawn',
    help: 'Run the daemon as a child process, and restart it whenever it exits or hangs.',
    ...onOrOff,
    commands: ['serve'],
  };
  readonly shard: Flag<number | 'auto'> = {
    name: 'shard',
    defaultText: 'auto',
    help: 'Number of this shard, from 0; auto takes the number at the end of the pod name, which a StatefulSet sets.',
    ...shardNumber,
    commands: ['serve', 'once'],
  };
  readonly totalShards: Flag<number> = {
    name: 'total-shards',
    defaultText: '1',
    help: 'Number of processes that share the applications and the budget of each account.',
    ...wholeNumber(1, 1000),
    commands: ['serve', 'once'],
  };
  readonly hostName: Flag<string> = {
    name: 'host-name',
    defaultText: '',
    help: 'Name of this host in New Relic, for entries with "hosts: self"; without it, the name of the pod (POD_NAME), then that of the machine.',
    ...hostName,
    commands: ['serve', 'once', 'check-config', 'plan', ...asking],
  };
  readonly logLevel: Flag<LogLevel> = {
    name: 'log.level',
    defaultText: 'info',
    help: 'Lowest level of messages to log: debug, info, warn or error.',
    ...oneOf(logLevels),
    commands: logging,
  };
  readonly logFormat: Flag<LogFormat> = {
    name: 'log.format',
    defaultText: 'auto',
    help: 'Format of the log: json, logfmt, pretty, or auto, which is pretty on a terminal and json elsewhere.',
    ...oneOf(logFormats),
    commands: logging,
  };
  readonly online: Flag<boolean> = {
    name: 'online',
    help: 'Ask New Relic: one discovery of each account, hosts that are chosen by name, queries, and some values.',
    ...onOrOff,
    commands: ['check-config', 'plan'],
  };
  readonly output: Flag<OutputFormat> = {
    name: 'output',
    short: 'o',
    defaultText: 'text',
    help: {
      plan: 'Format of the output: text or json.',
      discover: 'Format of the output: text, json or yaml.',
      metrics: 'Format of the output: text or yaml.',
    },
    ...oneOf(outputFormats),
    commands: ['plan', 'discover', 'metrics'],
  };
  readonly account: Flag<string> = {
    name: 'account',
    help: {
      metrics:
        'Account of the configuration that has the application; without it, every account with entries is searched.',
      verify: 'Account of the configuration to ask about; without it, every account.',
    },
    ...anyText('the name of an account of the configuration'),
    commands: ['metrics', 'verify'],
  };
  readonly host: Flag<string> = {
    name: 'host',
    help: 'Id or name of a host of the application, to list what that host has.',
    ...anyText('the id or the name of a host'),
    commands: ['metrics'],
  };
  readonly like: Flag<string> = {
    name: 'like',
    help: 'Only metrics whose names contain this text, in upper or lower case.',
    ...anyText('a part of the name of a metric, such as Datastore'),
    commands: ['metrics'],
  };
  readonly all: Flag<boolean> = {
    name: 'all',
    help: {
      compare: 'Print every value that was compared, also all those that agree.',
      metrics: 'Print the names of all values of each metric, and the presets that read them.',
      once: 'Print the metrics of the exporter itself as well.',
    },
    ...onOrOff,
    commands: ['compare', 'metrics', 'once'],
  };
  readonly planApplicationsPerMatch: Flag<number> = {
    name: 'plan.apps-per-match',
    defaultText: '10',
    help: 'Without --online: how many applications an entry by match is assumed to select.',
    ...wholeNumber(0, 10_000),
    commands: ['plan'],
  };
  readonly planHostsPerApplication: Flag<number> = {
    name: 'plan.hosts-per-app',
    defaultText: '10',
    help: 'Without --online: how many hosts an application is assumed to have.',
    ...wholeNumber(0, 10_000),
    commands: ['plan'],
  };
  readonly replicas: Flag<number> = {
    name: 'replicas',
    defaultText: '1',
    help: 'Plan for this number of processes with the same configuration and keys, such as sidecars: how much of each quota they use together.',
    ...wholeNumber(1, 100_000),
    commands: ['plan'],
  };
  readonly fromMs: Flag<number> = moment('from', 'The first sample, such as 2026-11-01T00:00:00Z.');
  readonly toMs: Flag<number> = moment('to', 'When the last sample is; without it, now.');
  readonly stepMs: Flag<number> = {
    name: 'step',
    defaultText: '1m',
    help: 'Time between two samples of a series: whole minutes that divide every window.',
    expected: 'a duration of whole minutes from 1m to 1d, such as 5m',
    commands: ['backfill'],
    parse: (text) => {
      const stepMs = durationWithin(minuteMs, dayMs, text);
      return stepMs === undefined || stepMs % minuteMs > 0 ? undefined : stepMs;
    },
  };
  readonly applications: RepeatableFlag<string> = {
    name: 'app',
    help: 'Id or exact name of an application that the configuration selects, instead of all; queries are then left out. May be repeated.',
    ...anyText('the id or the name of an application'),
    isRepeatable: true,
    commands: ['backfill'],
  };
  readonly only: Flag<'all' | 'apps' | 'queries'> = {
    name: 'only',
    defaultText: 'all',
    help: 'What is asked for: apps, queries, or all.',
    ...oneOf(['all', 'apps', 'queries']),
    commands: ['backfill'],
  };
  readonly labels: RepeatableFlag<string> = {
    name: 'label',
    help: 'A label for every sample, such as job=newrelic. May be repeated.',
    ...anyText('NAME=VALUE, such as job=newrelic'),
    isRepeatable: true,
    commands: ['backfill'],
  };
  readonly backfillOutput: Flag<string> = output(
    'backfill',
    'The file to write; what is fetched so far is kept beside it, in FILE.parts.',
  );
  readonly verifyOutput: Flag<string> = output(
    'verify',
    'The file to write the report to, as Markdown; without it, standard output.',
  );
  readonly budget: Flag<number> = {
    name: 'budget',
    defaultText: '0',
    help: 'Calls a minute of each account, beside those of a running exporter; 0 means a quarter of its requests_per_minute.',
    ...wholeNumber(0, 3000),
    commands: ['backfill'],
  };
  readonly dryRun: Flag<boolean> = {
    name: 'dry-run',
    help: { backfill: 'Only say what it would take.', verify: 'Only say what would be asked.' },
    ...onOrOff,
    commands: ['backfill', 'verify'],
  };
  readonly restart: Flag<boolean> = {
    name: 'restart',
    help: 'Begin anew: what was fetched so far is thrown away. Never needed to go on.',
    ...onOrOff,
    commands: ['backfill'],
  };
  readonly healthcheckUrl: Flag<string> = {
    name: 'url',
    defaultText: 'http://127.0.0.1:9126/-/healthy',
    help: 'Address to ask; any status but 200 is a failure. With https the certificate is not verified.',
    ...httpUrl,
    commands: ['healthcheck'],
  };
  readonly clientCertFile: Flag<string> = {
    name: 'tls.cert-file',
    help: 'Client certificate to present, for a server that requires one (PEM).',
    ...filePath,
    commands: ['healthcheck'],
  };
  readonly clientKeyFile: Flag<string> = {
    name: 'tls.key-file',
    help: 'Key of the client certificate (PEM).',
    ...filePath,
    commands: ['healthcheck'],
  };
  readonly demoApplications: Flag<number> = applications('demo');
  readonly demoHosts: Flag<number> = hosts('demo');
  readonly demoSource: Flag<AccountSource['kind']> = {
    name: 'demo.source',
    defaultText: 'rest',
    help: 'API that the simulated account is polled with: rest or nerdgraph.',
    ...oneOf(['rest', 'nerdgraph']),
    commands: ['demo'],
  };
  readonly demoPort: Flag<number> = port('demo', '0');
  readonly demoFaults: Flag<string> = faults('demo');
  readonly simulateApplications: Flag<number> = applications('simulate');
  readonly simulateHosts: Flag<number> = hosts('simulate');
  readonly simulateChurnPerHour: Flag<number> = {
    name: 'simulate.churn',
    defaultText: '0',
    help: 'Hosts that are replaced by new ones each hour.',
    ...wholeNumber(0, 100_000),
    commands: ['simulate'],
  };
  readonly simulateQuota: Flag<number> = {
    name: 'simulate.quota',
    defaultText: '1000',
    help: 'REST calls that the key may make in a minute; further ones get status 429.',
    ...wholeNumber(1, 1_000_000),
    commands: ['simulate'],
  };
  readonly simulateLatencyMs: Flag<number> = {
    name: 'simulate.latency',
    defaultText: '100ms',
    help: 'How long an answer takes.',
    expected: 'a duration up to 10m, such as 100ms',
    commands: ['simulate'],
    parse: (text) => durationWithin(0, 600_000, text),
  };
  readonly simulatePort: Flag<number> = port('simulate', '19126');
  readonly simulateFaults: Flag<string> = faults('simulate');
}

/** The fields as a plain object type: the fields of a class cannot be listed with their types. */
type FlagTable = { readonly [Name in keyof DeclaredFlags]: DeclaredFlags[Name] };

export const flagTable: FlagTable = new DeclaredFlags();

/** The values of all flags, with every default applied. */
export type Flags = FlagValues<FlagTable>;
