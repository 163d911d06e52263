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
  type ValueRule,
  wholeNumber,
} from './flags.ts';

const sharing: readonly Command[] = ['serve', 'once'];
const serving: readonly Command[] = ['serve', 'demo'];
const logging: readonly Command[] = ['serve', 'once', 'demo'];
const asking: readonly Command[] = ['compare', 'backfill', 'verify'];
const checking: readonly Command[] = ['serve', 'check-config'];
const onHosts: readonly Command[] = ['serve', 'once', 'check-config', 'plan', ...asking];
const formatting: readonly Command[] = ['plan', 'discover', 'metrics'];
const withFile: readonly Command[] = [
  ...checking,
  'plan',
  'discover',
  'metrics',
  ...asking,
  'once',
];

const accountName = anyText('the name of an account of the configuration');
const partOfName = anyText('a part of the name of a metric, such as Datastore');
const entityType = {
  ...anyText('the domain and the type of entities, such as SYNTH-MONITOR'),
  bareText: 'all',
};
const assumed = wholeNumber(0, 10_000);
const quota = wholeNumber(1, 1_000_000);
const parts = oneOf(['all', 'apps', 'queries']);
const sourceChoice = oneOf(['rest', 'nerdgraph']);

/** What `--faults` shows: each of the things that an operator has to know from the page. */
const someFaults = 'fail-app=Checkout,missing-app=Checkout (staging),429-every=3m';

/** The forms of all faults; `src/demo/fault-list.ts` says what they mean. */
export const faultUsages: string =
  'fail-app=APP, hang-app=APP, missing-app=APP, missing-host[=APP], first-metric[=APP], ' +
  'lost-metrics[=APP], 429-every=5m, slow=5s, html-502[=20%], reset[=20%], wrong-key[=2m]';

/** @param rest what the rule does not say */
function flagOf<Value>(
  name: string,
  commands: Command | readonly Command[],
  rule: ValueRule<Value> & Partial<Pick<Flag<Value>, 'defaultText' | 'bareText'>>,
  rest: Pick<Flag<Value>, 'help' | 'short' | 'alias'> & { readonly defaultText?: string },
): Flag<Value> {
  return { defaultText: '', ...rule, ...rest, name, commands: [commands].flat() };
}

type SimulatorCommand = Extract<Command, 'demo' | 'simulate'>;

function applications(command: SimulatorCommand): Flag<number> {
  return flagOf(`${command}.applications`, command, wholeNumber(1, 10_000), {
    defaultText: '12',
    help: 'Applications of the simulated account.',
  });
}

function hostsFlag(command: SimulatorCommand): Flag<number> {
  return flagOf(`${command}.hosts`, command, wholeNumber(0, 100_000), {
    defaultText: '48',
    help: 'Hosts of the simulated account, all applications together.',
  });
}

function port(command: SimulatorCommand, defaultText: string): Flag<number> {
  return flagOf(`${command}.port`, command, wholeNumber(0, 65_535), {
    defaultText,
    help: 'Port of the simulated New Relic API on the loopback address; 0 means any free port.',
  });
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

function momentFlag(name: string, help: string): Flag<number> {
  return flagOf(name, ['backfill'], pointInTime, { help });
}

/** Declares every flag once, in the order of the help; `Flags` has the values under the same names. */
class DeclaredFlags {
  readonly configFile: Flag<string> = flagOf('config.file', withFile, filePath, {
    defaultText: 'config.yaml',
    help: 'Configuration file.',
  });
  readonly autoReloadIntervalMs: Flag<number> = {
    name: 'config.auto-reload-interval',
    defaultText: '30s',
    help: 'How often to check whether the configuration file has changed; 0 means never.',
    expected: 'a duration from 1s to 1d, such as 30s, or 0',
    commands: ['serve'],
    parse: (text) => (text === '0' ? 0 : durationWithin(1000, dayMs, text)),
  };
  readonly configWait: Flag<boolean> = flagOf('config.wait', 'serve', onOrOff, {
    help: 'Start even without a usable configuration or key, and wait for it instead of exiting.',
  });
  readonly listenAddresses: RepeatableFlag<string> = {
    name: 'web.listen-address',
    defaultText: ':9126',
    help: 'Address to listen on. May be repeated; in the environment variable, separated by commas.',
    expected: '[host]:port, such as :9126, 127.0.0.1:9126 or [::1]:9126',
    isRepeatable: true,
    commands: serving,
    parse: listenAddress,
  };
  readonly webConfigFile: Flag<string> = flagOf('web.config.file', checking, filePath, {
    help: "File with TLS, passwords and headers of the exporter's own HTTP server, in the format of Prometheus' exporters.",
  });
  readonly telemetryPath: Flag<string> = {
    name: 'web.telemetry-path',
    defaultText: '/metrics',
    help: 'Path of the metrics.',
    expected:
      'a path such as /metrics, without a slash at the end and not under /-/, /api/ or /config',
    commands: serving,
    parse: telemetryPath,
  };
  readonly maxRequests: Flag<number> = flagOf('web.max-requests', serving, wholeNumber(1, 10_000), {
    defaultText: '40',
    help: 'The most scrapes answered at the same time; one more ends the answer that has waited longest for its reader, or gets a 503.',
  });
  readonly enableLifecycle: Flag<boolean> = flagOf('web.enable-lifecycle', 'serve', onOrOff, {
    help: 'Allow a reload of the configuration by POST /-/reload.',
  });
  readonly respawn: Flag<boolean> = flagOf('respawn', 'serve', onOrOff, {
    help: 'Run the daemon as a child process, and restart it whenever it exits or hangs.',
  });
  readonly shard: Flag<number | 'auto'> = flagOf('shard', sharing, shardNumber, {
    defaultText: 'auto',
    help: 'Number of this shard, from 0; auto takes the number at the end of the pod name, which a StatefulSet sets.',
  });
  readonly totalShards: Flag<number> = flagOf('total-shards', sharing, wholeNumber(1, 1000), {
    defaultText: '1',
    help: 'Number of processes that share the applications and the budget of each account.',
  });
  readonly hostName: Flag<string> = flagOf('host-name', onHosts, hostName, {
    defaultText: '',
    help: 'Name of this host in New Relic, for entries with "hosts: self"; without it, the name of the pod (POD_NAME), then that of the machine.',
  });
  readonly logLevel: Flag<LogLevel> = flagOf('log.level', logging, oneOf(logLevels), {
    defaultText: 'info',
    help: 'Lowest level of messages to log: debug, info, warn or error.',
  });
  readonly logFormat: Flag<LogFormat> = flagOf('log.format', logging, oneOf(logFormats), {
    defaultText: 'auto',
    help: 'Format of the log: json, logfmt, pretty, or auto, which is pretty on a terminal and json elsewhere.',
  });
  readonly online: Flag<boolean> = flagOf('online', ['check-config', 'plan'], onOrOff, {
    help: 'Ask New Relic: one discovery of each account, hosts that are chosen by name, queries, and some values.',
  });
  readonly output: Flag<OutputFormat> = flagOf('output', formatting, oneOf(outputFormats), {
    short: 'o',
    defaultText: 'text',
    help: {
      plan: 'Format of the output: text or json.',
      discover: 'Format of the output: text, json or yaml.',
      metrics: 'Format of the output: text or yaml.',
    },
  });
  readonly entities: Flag<string> = flagOf('entities', 'discover', entityType, {
    help: 'List the types of entities instead; of one, such as --entities=SYNTH-MONITOR, print what New Relic shows of it, as YAML to paste as queries.',
  });
  readonly account: Flag<string> = flagOf('account', ['metrics', 'verify'], accountName, {
    help: {
      metrics:
        'Account of the configuration that has the application; without it, every account with entries is searched.',
      verify: 'Account of the configuration to ask about; without it, every account.',
    },
  });
  readonly host: Flag<string> = flagOf('host', 'metrics', anyText('the id or the name of a host'), {
    help: 'Id or name of a host of the application, to list what that host has.',
  });
  readonly like: Flag<string> = flagOf('like', 'metrics', partOfName, {
    help: 'Only metrics whose names contain this text, in upper or lower case.',
  });
  readonly all: Flag<boolean> = flagOf('all', ['compare', 'metrics', 'once'], onOrOff, {
    help: {
      compare: 'Print every value that was compared, also all those that agree.',
      metrics: 'Print the names of all values of each metric, and the presets that read them.',
      once: 'Print the metrics of the exporter itself as well.',
    },
  });
  readonly planApplicationsPerMatch: Flag<number> = flagOf('plan.apps-per-match', 'plan', assumed, {
    defaultText: '10',
    help: 'Without --online: how many applications an entry by match is assumed to select.',
  });
  readonly planHostsPerApplication: Flag<number> = flagOf('plan.hosts-per-app', 'plan', assumed, {
    defaultText: '10',
    help: 'Without --online: how many hosts an application is assumed to have.',
  });
  readonly replicas: Flag<number> = flagOf('replicas', 'plan', wholeNumber(1, 100_000), {
    defaultText: '1',
    help: 'Plan for this number of processes with the same configuration and keys, such as sidecars: how much of each quota they use together.',
  });
  readonly fromMs: Flag<number> = momentFlag(
    'from',
    'The first sample, such as 2026-11-01T00:00:00Z.',
  );
  readonly toMs: Flag<number> = momentFlag('to', 'When the last sample is; without it, now.');
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
  readonly only: Flag<'all' | 'apps' | 'queries'> = flagOf('only', 'backfill', parts, {
    defaultText: 'all',
    help: 'What is asked for: apps, queries, or all.',
  });
  readonly labels: RepeatableFlag<string> = {
    name: 'label',
    help: 'A label for every sample, such as job=newrelic. May be repeated.',
    ...anyText('NAME=VALUE, such as job=newrelic'),
    isRepeatable: true,
    commands: ['backfill'],
  };
  readonly backfillOutput: Flag<string> = flagOf('backfill.output', 'backfill', filePath, {
    alias: 'output',
    help: 'The file to write; what is fetched so far is kept beside it, in FILE.parts.',
  });
  readonly verifyOutput: Flag<string> = flagOf('verify.output', 'verify', filePath, {
    alias: 'output',
    help: 'The file to write the report to, as Markdown; without it, standard output.',
  });
  readonly budget: Flag<number> = flagOf('budget', 'backfill', wholeNumber(0, 3000), {
    defaultText: '0',
    help: 'Calls a minute of each account, beside those of a running exporter; 0 means a quarter of its requests_per_minute.',
  });
  readonly dryRun: Flag<boolean> = flagOf('dry-run', ['backfill', 'verify'], onOrOff, {
    help: { backfill: 'Only say what it would take.', verify: 'Only say what would be asked.' },
  });
  readonly restart: Flag<boolean> = flagOf('restart', 'backfill', onOrOff, {
    help: 'Begin anew: what was fetched so far is thrown away. Never needed to go on.',
  });
  readonly healthcheckUrl: Flag<string> = flagOf('url', 'healthcheck', httpUrl, {
    defaultText: 'http://127.0.0.1:9126/-/healthy',
    help: 'Address to ask; any status but 200 is a failure. With https the certificate is not verified.',
  });
  readonly clientCertFile: Flag<string> = flagOf('tls.cert-file', 'healthcheck', filePath, {
    help: 'Client certificate to present, for a server that requires one (PEM).',
  });
  readonly clientKeyFile: Flag<string> = flagOf('tls.key-file', 'healthcheck', filePath, {
    help: 'Key of the client certificate (PEM).',
  });
  readonly demoApplications: Flag<number> = applications('demo');
  readonly demoHosts: Flag<number> = hostsFlag('demo');
  readonly demoSource: Flag<AccountSource['kind']> = flagOf('demo.source', 'demo', sourceChoice, {
    defaultText: 'rest',
    help: 'API that the simulated account is polled with: rest or nerdgraph.',
  });
  readonly demoPort: Flag<number> = port('demo', '0');
  readonly demoFaults: Flag<string> = faults('demo');
  readonly simulateApplications: Flag<number> = applications('simulate');
  readonly simulateHosts: Flag<number> = hostsFlag('simulate');
  readonly simulateChurnPerHour: Flag<number> = flagOf(
    'simulate.churn',
    'simulate',
    wholeNumber(0, 100_000),
    {
      defaultText: '0',
      help: 'Hosts that are replaced by new ones each hour.',
    },
  );
  readonly simulateQuota: Flag<number> = flagOf('simulate.quota', 'simulate', quota, {
    defaultText: '1000',
    help: 'REST calls that the key may make in a minute; further ones get status 429.',
  });
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
