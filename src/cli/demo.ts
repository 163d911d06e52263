import type { ExitCode, Output, Platform } from '../daemon/platform.ts';
import { serve } from '../daemon/serve.ts';
import type { AccountSource } from '../model/config.ts';
import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import type { BoundAddress } from '../server/metrics-server.ts';
import { createSimulator } from '../simulator/simulator.ts';
import type { Flags } from './flag-table.ts';

const keyVariable = 'NEWRELIC_EXPORTER_DEMO_KEY';
/** The New Relic account that is simulated. */
const accountId = 1_234_567;
/** The name of a file that exists only on the platform of the demo. */
const configFile = 'demo.yaml';

/** The daemon and a simulated New Relic account together: nothing else is needed to try it. */
export async function demo(flags: Flags, platform: Platform): Promise<ExitCode> {
  const simulator = createSimulator(
    {
      port: flags.demoPort,
      graphql: { accountId },
      latencyMs: [40, 160],
      fleet: {
        applications: flags.demoApplications,
        hosts: flags.demoHosts,
        churnPerHour: flags.demoHosts / 2,
      },
    },
    { clock: platform.clock },
  );
  const { baseUrl } = await simulator.start();
  const [apiKey] = simulator.apiKeys;
  const text = demoConfig(baseUrl, flags.demoSource);
  const demoPlatform: Platform = {
    ...platform,
    env: { ...platform.env, [keyVariable]: apiKey },
    readFile: async (path) =>
      path === configFile ? new TextEncoder().encode(text) : platform.readFile(path),
    // The file cannot change: the signal ends the demo, as it does other programs.
    onHangup: () => {},
  };
  try {
    return await serve({ ...flags, configFile, autoReloadIntervalMs: 0 }, demoPlatform, {
      watch: (sink) => tickerOver(sink, platform.stdout),
      listening: (addresses) => {
        platform.stdout.write(greeting(addresses, flags, baseUrl, text));
      },
    });
  } finally {
    await simulator.stop();
  }
}

function demoConfig(baseUrl: string, source: AccountSource['kind']): string {
  const asked =
    source === 'nerdgraph' ? ['    source: nerdgraph', `    account_id: ${accountId}`] : [];
  return [
    'accounts:',
    '  - name: demo',
    `    base_url: ${baseUrl}`,
    `    api_key_env: ${keyVariable}`,
    ...asked,
    'poll:',
    '  window: 1m',
    'apps:',
    '  - match: "."',
    '',
  ].join('\n');
}

const apiPaths: Readonly<Record<AccountSource['kind'], string>> = {
  rest: '/v2/applications.json',
  nerdgraph: '/graphql',
};

function greeting(
  addresses: readonly BoundAddress[],
  flags: Flags,
  simulatorUrl: string,
  config: string,
): string {
  const port = addresses[0]?.port ?? 0;
  const url = `http://localhost:${port}`;
  return [
    '',
    'The exporter is running against a simulated New Relic account.',
    '',
    `  status page    ${url}/`,
    `  metrics        ${url}${flags.telemetryPath}`,
    `  simulated API  ${simulatorUrl}${apiPaths[flags.demoSource]}`,
    '',
    'Its configuration:',
    '',
    ...config
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    `Try:  curl -s ${url}${flags.telemetryPath} | grep requests_per_minute`,
    'New values come every minute, as from New Relic. Ctrl-C stops.',
    '',
    '',
  ].join('\n');
}

/** Lines for this many applications: enough to see numbers move, few enough to read. */
const shownApplications = 5;

/** Passes everything on, and prints the throughput of a few applications whenever it changes. */
export function tickerOver(sink: SnapshotSink, stdout: Output): SnapshotSink {
  const last = new Map<string, string>();
  return {
    remove: (account, applicationId) => {
      sink.remove(account, applicationId);
    },
    accountUp: (account, up) => {
      sink.accountUp(account, up);
    },
    removeAccount: (account) => {
      sink.removeAccount(account);
    },
    publish: (snapshot) => {
      sink.publish(snapshot);
      const { id, name } = snapshot.application;
      const now = throughputText(snapshot);
      const before = last.get(id);
      if (now === '' || now === before) return;
      if (before === undefined && last.size >= shownApplications) return;
      last.set(id, now);
      const was = before === undefined ? '' : `   (was ${before})`;
      stdout.write(`  ${name.padEnd(34)} ${now}${was}\n`);
    },
  };
}

function throughputText({ reading }: AppSnapshot): string {
  return [...(reading?.application ?? [])]
    .map(([type, requestsPerMinute]) => `${type} ${Number(requestsPerMinute.toPrecision(3))} rpm`)
    .join(', ');
}
