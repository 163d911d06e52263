import { parseDuration } from '../config/duration.ts';
import { type LogFormat, type LogLevel, logFormats, logLevels } from '../telemetry/logger.ts';
import {
  type Command,
  type Flag,
  hostName,
  httpUrl,
  listenAddress,
  type OutputFormat,
  oneOf,
  onOrOff,
  outputFormats,
  shardNumber,
  telemetryPath,
  wholeNumber,
} from './flags.ts';

/** Which flags there are, in the order of the help. A type alias, so that its values can be listed. */
export type FlagTable = {
  readonly configFile: Flag<string>;
  readonly autoReloadInterval: Flag<number>;
  readonly configWait: Flag<boolean>;
  readonly listenAddresses: Flag<string>;
  readonly telemetryPath: Flag<string>;
  readonly maxRequests: Flag<number>;
  readonly enableLifecycle: Flag<boolean>;
  readonly respawn: Flag<boolean>;
  readonly shard: Flag<number | 'auto'>;
  readonly totalShards: Flag<number>;
  readonly hostName: Flag<string>;
  readonly logLevel: Flag<LogLevel>;
  readonly logFormat: Flag<LogFormat>;
  readonly online: Flag<boolean>;
  readonly output: Flag<OutputFormat>;
  readonly planApplicationsPerMatch: Flag<number>;
  readonly planHostsPerApplication: Flag<number>;
  readonly replicas: Flag<number>;
  readonly demoApplications: Flag<number>;
  readonly demoHosts: Flag<number>;
  readonly demoPort: Flag<number>;
  readonly healthcheckUrl: Flag<string>;
};

const sharing: readonly Command[] = ['serve', 'once'];
const serving: readonly Command[] = ['serve', 'demo'];
const logging: readonly Command[] = ['serve', 'once', 'demo'];

export const flagTable: FlagTable = {
  configFile: {
    name: 'config.file',
    defaultText: 'config.yaml',
    help: 'Configuration file.',
    expected: 'the path of a file',
    isRepeatable: false,
    commands: ['serve', 'check-config', 'plan', 'discover', 'once'],
    parse: (text) => (text === '' ? undefined : text),
  },
  autoReloadInterval: {
    name: 'config.auto-reload-interval',
    defaultText: '30s',
    help: 'How often to check whether the configuration file has changed; 0 means never.',
    expected: 'a duration from 1s to 24h, such as 30s, or 0',
    isRepeatable: false,
    commands: ['serve'],
    parse: (text) => {
      if (text === '0') return 0;
      const parsed = parseDuration(text, { minMs: 1000, maxMs: 86_400_000 });
      return parsed.problem === undefined ? parsed.ms : undefined;
    },
  },
  configWait: {
    name: 'config.wait',
    defaultText: 'false',
    help: 'Start even without a usable configuration, key or port, and wait for it instead of exiting.',
    ...onOrOff,
    isRepeatable: false,
    commands: ['serve'],
  },
  listenAddresses: {
    name: 'web.listen-address',
    defaultText: ':9126',
    help: 'Address to listen on. May be repeated; in the environment variable, separated by commas.',
    expected: '[host]:port, such as :9126, 127.0.0.1:9126 or [::1]:9126',
    isRepeatable: true,
    commands: serving,
    parse: listenAddress,
  },
  telemetryPath: {
    name: 'web.telemetry-path',
    defaultText: '/metrics',
    help: 'Path of the metrics.',
    expected:
      'a path such as /metrics, without a slash at the end and not under /-/, /api/ or /config',
    isRepeatable: false,
    commands: serving,
    parse: telemetryPath,
  },
  maxRequests: {
    name: 'web.max-requests',
    defaultText: '40',
    help: 'The most scrapes answered at the same time; more are refused with 503.',
    ...wholeNumber(1, 10_000),
    isRepeatable: false,
    commands: serving,
  },
  enableLifecycle: {
    name: 'web.enable-lifecycle',
    defaultText: 'false',
    help: 'Allow a reload of the configuration by POST /-/reload.',
    ...onOrOff,
    isRepeatable: false,
    commands: ['serve'],
  },
  respawn: {
    name: 'respawn',
    defaultText: 'false',
    help: 'Run the daemon as a child process, and restart it whenever it exits or hangs.',
    ...onOrOff,
    isRepeatable: false,
    commands: ['serve'],
  },
  shard: {
    name: 'shard',
    defaultText: 'auto',
    help: 'Number of this shard, from 0; auto takes the number at the end of the pod name, which a StatefulSet sets.',
    ...shardNumber,
    isRepeatable: false,
    commands: sharing,
  },
  totalShards: {
    name: 'total-shards',
    defaultText: '1',
    help: 'Number of processes that share the applications and the budget of each account.',
    ...wholeNumber(1, 1000),
    isRepeatable: false,
    commands: sharing,
  },
  hostName: {
    name: 'host-name',
    defaultText: '',
    help: 'Name of this host in New Relic, for entries with "hosts: self"; without it, the name of the pod (POD_NAME), then that of the machine.',
    ...hostName,
    isRepeatable: false,
    commands: ['serve', 'once', 'check-config', 'plan'],
  },
  logLevel: {
    name: 'log.level',
    defaultText: 'info',
    help: 'Lowest level of messages to log: debug, info, warn or error.',
    ...oneOf(logLevels),
    isRepeatable: false,
    commands: logging,
  },
  logFormat: {
    name: 'log.format',
    defaultText: 'auto',
    help: 'Format of the log: json, pretty, or auto, which is pretty on a terminal and json elsewhere.',
    ...oneOf(logFormats),
    isRepeatable: false,
    commands: logging,
  },
  online: {
    name: 'online',
    defaultText: 'false',
    help: 'Ask New Relic, with one discovery for each account.',
    ...onOrOff,
    isRepeatable: false,
    commands: ['check-config', 'plan'],
  },
  output: {
    name: 'output',
    short: 'o',
    defaultText: 'text',
    help: 'Format of the output: text, json, or yaml for discover.',
    ...oneOf(outputFormats),
    isRepeatable: false,
    commands: ['plan', 'discover'],
  },
  planApplicationsPerMatch: {
    name: 'plan.apps-per-match',
    defaultText: '10',
    help: 'Without --online: how many applications an entry by match is assumed to select.',
    ...wholeNumber(0, 10_000),
    isRepeatable: false,
    commands: ['plan'],
  },
  planHostsPerApplication: {
    name: 'plan.hosts-per-app',
    defaultText: '10',
    help: 'Without --online: how many hosts an application is assumed to have.',
    ...wholeNumber(0, 10_000),
    isRepeatable: false,
    commands: ['plan'],
  },
  replicas: {
    name: 'replicas',
    defaultText: '1',
    help: 'Plan for this number of processes with the same configuration and keys, such as sidecars: how much of each quota they use together.',
    ...wholeNumber(1, 100_000),
    isRepeatable: false,
    commands: ['plan'],
  },
  demoApplications: {
    name: 'demo.applications',
    defaultText: '12',
    help: 'Applications of the simulated account.',
    ...wholeNumber(1, 10_000),
    isRepeatable: false,
    commands: ['demo'],
  },
  demoHosts: {
    name: 'demo.hosts',
    defaultText: '48',
    help: 'Hosts of the simulated account, all applications together.',
    ...wholeNumber(0, 100_000),
    isRepeatable: false,
    commands: ['demo'],
  },
  demoPort: {
    name: 'demo.port',
    defaultText: '0',
    help: 'Port of the simulated New Relic API on the loopback address; 0 means any free port.',
    ...wholeNumber(0, 65_535),
    isRepeatable: false,
    commands: ['demo'],
  },
  healthcheckUrl: {
    name: 'url',
    defaultText: 'http://127.0.0.1:9126/-/healthy',
    help: 'Address to ask; any status but 200 is a failure.',
    ...httpUrl,
    isRepeatable: false,
    commands: ['healthcheck'],
  },
};
