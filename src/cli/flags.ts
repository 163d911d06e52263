import type { LogFormat, LogLevel } from '../telemetry/log-options.ts';

export const outputFormats = ['text', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The values of all flags, with every default applied. */
export interface Flags {
  readonly configFile: string;
  /** How often the configuration file is looked at for changes; 0 is never. */
  readonly autoReloadIntervalMs: number;
  /** Whether the daemon runs without a usable configuration, and waits for one. */
  readonly configWait: boolean;
  /** Whether `POST /-/reload` is there. */
  readonly enableLifecycle: boolean;
  /** Whether the daemon runs as a child process that is started again whenever it ends. */
  readonly respawn: boolean;
  /** Each of the form `[host]:port`. */
  readonly listenAddresses: readonly string[];
  readonly telemetryPath: string;
  readonly maxRequests: number;
  /** This process' number among `totalShards`; `auto`: the one that its pod name ends in. */
  readonly shard: number | 'auto';
  readonly totalShards: number;
  /** The name of this host in New Relic; empty: that of the pod or of the machine. */
  readonly hostName: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** Whether the command asks the vendor. */
  readonly online: boolean;
  readonly output: OutputFormat;
  readonly planApplicationsPerMatch: number;
  readonly planHostsPerApplication: number;
  /** Processes with the same configuration and the same keys that a plan is for. */
  readonly replicas: number;
  readonly demoApplications: number;
  readonly demoHosts: number;
  readonly demoPort: number;
  readonly healthcheckUrl: string;
}
