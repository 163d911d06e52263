import { basename, relative } from 'node:path';
import { type Flags, flagTable } from '../cli/flag-table.ts';
import type { ExitCode, Platform } from '../daemon/platform.ts';
import { serve } from '../daemon/serve.ts';
import type { AccountSource } from '../model/config.ts';
import type { PresetName } from '../model/presets.ts';
import type { BoundAddress } from '../web/metrics-server.ts';
import { faultsFrom } from './fault-list.ts';
import {
  createSimulatedVendor,
  indented,
  type SimulatedVendor,
  simulatedConfigText,
} from './simulated-vendor.ts';

const keyVariable = 'NEWRELIC_EXPORTER_DEMO_KEY';
/** What people look at first: the rate, the errors and the duration of requests. */
const demoMetrics: readonly PresetName[] = ['throughput', 'response_time', 'errors', 'apdex'];
/** What the metrics of applications do not have: percentiles. */
const demoQueries: readonly string[] = [
  'queries:',
  '  - as: nr_transaction_duration_seconds',
  '    nrql: SELECT percentile(duration, 50, 95, 99) AS duration FROM Transaction FACET appName LIMIT 100',
  '    help: Duration of transactions.',
];
/** The name of a file that exists only on the platform of the demo. */
const configFile = 'demo.yaml';

/** The daemon and a simulated New Relic account together: nothing else is needed to try it. */
export async function demo(
  argv: readonly string[],
  flags: Flags,
  platform: Platform,
): Promise<ExitCode> {
  const vendor = createSimulatedVendor(
    {
      port: flags.demoPort,
      portFlag: flagTable.demoPort.name,
      latencyMs: [40, 160],
      applications: flags.demoApplications,
      hosts: flags.demoHosts,
      churnPerHour: flags.demoHosts / 2,
      faults: faultsFrom(flagTable.demoFaults.name, flags.demoFaults),
    },
    platform,
  );
  const { baseUrl } = await vendor.start();
  const config = simulatedConfigText({
    account: 'demo',
    baseUrl,
    keyVariable,
    source: flags.demoSource,
    poll: ['window: 1m', `metrics: [${demoMetrics.join(', ')}]`],
    missingNames: vendor.script.missingNames,
    queries: demoQueries,
  });
  const demoPlatform: Platform = {
    ...platform,
    env: { ...platform.env, [keyVariable]: vendor.apiKey },
    readFile: async (path) =>
      path === configFile ? new TextEncoder().encode(config) : platform.readFile(path),
    // The file cannot change: the signal ends the demo, as it does other programs.
    onHangup: () => {},
  };
  try {
    const options = { ...flags, configFile, autoReloadIntervalMs: 0 };
    return await serve(options, demoPlatform, (addresses) => {
      const faultsCommand = commandWithFaults(argv, platform);
      platform.stdout.write(greeting({ addresses, flags, vendor, baseUrl, config, faultsCommand }));
    });
  } finally {
    await vendor.simulator.stop();
  }
}

const apiPaths: Readonly<Record<AccountSource['kind'], string>> = {
  rest: '/v2/applications.json',
  nerdgraph: '/graphql',
};

interface Running {
  readonly addresses: readonly BoundAddress[];
  readonly flags: Flags;
  readonly vendor: SimulatedVendor;
  readonly baseUrl: string;
  readonly config: string;
  /** What starts the same demo with faults. */
  readonly faultsCommand: string;
}

/** The command that this demo was started with, for a shell, and what makes some of it fail. */
export function commandWithFaults(
  argv: readonly string[],
  { env, startedFile }: Pick<Platform, 'env' | 'startedFile'>,
): string {
  // An installed program is started by its name, any other file by Node.js.
  const name = basename(startedFile);
  const program = name === 'newrelic-exporter' ? name : `node ${relative('', startedFile)}`;
  const words = argv.map((word) => (/^[\w./:=,-]+$/u.test(word) ? word : `'${word}'`));
  // The script of npm ends in the command; npm keeps flags in front of "--" for itself.
  const started =
    env['npm_lifecycle_event'] === 'demo'
      ? ['npm run demo --', ...words.slice(1)]
      : [program, ...words];
  return [...started, '--faults'].join(' ');
}

function greeting(running: Running): string {
  const { addresses, flags, vendor, baseUrl, config } = running;
  const port = addresses[0]?.port ?? 0;
  const url = `http://localhost:${port}`;
  return [
    '',
    'The exporter is running against a simulated New Relic account.',
    '',
    `  status page    ${url}/`,
    `  metrics        ${url}${flags.telemetryPath}`,
    `  simulated API  ${baseUrl}${apiPaths[flags.demoSource]}`,
    '',
    ...faultsText(running, url),
    'Its configuration:',
    '',
    ...indented(config),
    '',
    'Another exporter, or curl, can use the same account with its key, which is no secret:',
    '',
    `  export ${keyVariable}=${vendor.apiKey}`,
    '',
    `Try:  curl -s ${url}${flags.telemetryPath} | grep -E 'requests|response|errors|apdex'`,
    'New values come every minute, as from New Relic. Ctrl-C stops.',
    '',
    '',
  ].join('\n');
}

function faultsText(
  { vendor: { script }, flags: { telemetryPath }, faultsCommand }: Running,
  url: string,
): readonly string[] {
  if (script.sentences.length === 0) {
    return [
      'To see what fails as well, stop it, and start it with --faults:',
      '',
      `  ${faultsCommand}`,
      '',
    ];
  }
  return [
    'What goes wrong, on purpose:',
    '',
    ...script.sentences.map((sentence) => `  - ${sentence}`),
    '',
    'Look at the status page, at the lines of the log here, and at:',
    '',
    `  curl -s ${url}${telemetryPath} | grep -E '^newrelic.*((_up|poll_success).* 0|(app_missing|failures_total).* [1-9][0-9]*)$'`,
    '',
  ];
}
