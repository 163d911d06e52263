import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { presetNames } from '../../src/model/presets.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';

const apiKey = 'NRAK-DASHBOARDS';

/** The vendor as the dashboards have to show it: one of each kind, and one that fails. */
export function aVendor(): Simulator {
  const clock = createSystemClock();
  const unavailable = createFaults(
    [{ when: { applicationId: '102' }, fault: { kind: 'status', status: 503 } }],
    { clock },
  );
  return createSimulator(
    {
      apiKeys: [apiKey],
      latencyMs: [5, 30],
      ingestDelayMs: 0,
      quotaPerMinute: 100_000,
      intercept: unavailable.intercept,
      fleet: {
        traffic: 'flat',
        applications: [
          {
            id: 101,
            name: 'Checkout (production)',
            kind: 'both',
            webRpm: 600,
            otherRpm: 60,
            hosts: 3,
          },
          { id: 102, name: 'worker', kind: 'other', otherRpm: 60, hosts: 1 },
          {
            id: 103,
            name: 'shop "eu" \\ web',
            kind: 'web',
            webRpm: 120,
            healthStatus: 'red',
            hosts: [1032, 1033, 1034, 1035].map((id) => ({ id, name: `h${id}` })),
          },
          { id: 104, name: 'silent', kind: 'not_reporting' },
        ],
      },
    },
    { clock },
  );
}

export const environment: Readonly<Record<string, string>> = { KEY: apiKey };

export function configOf(baseUrl: string): string {
  return `
accounts:
  - name: main
    base_url: ${baseUrl}
    api_key_env: KEY
    requests_per_minute: 10000
  - name: bulk
    base_url: ${baseUrl}
    api_key_env: KEY
    source: nerdgraph
    account_id: 1234567
poll:
  interval: 5s
  discovery_interval: 2s
  metrics: [${presetNames.join(', ')}]
apps:
  - name: Checkout (production)
    account: main
    metrics: [${presetNames.join(', ')}, { metric: GC/cumulativ, value: total_time, as: gc_time_seconds }]
  - match: "."
    account: main
  - name: Not there
    account: bulk
queries:
  - as: transactions
    account: bulk
    nrql: SELECT count(*) FROM Transaction FACET appName
  - as: transactions_of_nobody
    account: bulk
    nrql: SELECT count(*) FROM Transaction WHERE appName = 'Nobody' FACET appName
`;
}

/** Scrapes the daemon twice, as if two of them polled the same applications. */
export function prometheusConfig(daemon: string, rules: string): string {
  const jobs = ['newrelic-exporter', 'second'].map(
    (job) => `
  - job_name: ${job}
    scrape_interval: 1s
    static_configs: [{ targets: ["${daemon}"] }]`,
  );
  return `
global: { evaluation_interval: 1s }
rule_files: ["${rules}/*.yaml"]
scrape_configs:${jobs.join('')}
`;
}
