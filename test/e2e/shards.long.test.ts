import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { startPrometheus } from '../dashboards/prometheus.ts';
import { get, startDaemon, stopProgram, until, withFiles } from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';

const prometheusTool = toolOrSkip('prometheus');
const budget = 900;

const configOf = (baseUrl: string): string => `
accounts:
  - name: e2e
    base_url: ${baseUrl}
    api_key_file: api-key
    requests_per_minute: ${budget}
poll: { interval: 10s, discovery_interval: 10s }
apps:
  - match: "."
`;

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert?: string; readonly expr: string }[];
  }[];
}

function expressionOf(alert: string): string {
  const url = new URL('../../helm/newrelic-exporter/rules/exporter.yaml', import.meta.url);
  const { groups } = parse(readFileSync(url, 'utf8')) as RuleFile;
  const rule = groups.flatMap(({ rules }) => rules).find((one) => one.alert === alert);
  if (rule === undefined) throw new Error(`there is no alert ${alert}`);
  return rule.expr;
}

async function applicationsAt(url: string): Promise<readonly string[]> {
  const { text } = await get(`${url}/metrics`);
  const lines = text.matchAll(
    /^newrelic_application_last_success_timestamp_seconds\{.*app_id="(\d+)"/gmu,
  );
  return [...lines].map(([, id = '']) => id);
}

describe.skipIf(prometheusTool.skip)(`three daemons on one account${prometheusTool.note}`, () => {
  it('poll everything once within one budget, and one that is killed is missed by the alert only', async () => {
    const simulator = createSimulator(
      {
        apiKeys: ['NRAK-E2E'],
        latencyMs: [5, 30],
        fleet: { applications: 24, hosts: 48, kinds: ['both'] },
      },
      { clock: createSystemClock() },
    );
    const { baseUrl } = await simulator.start();
    const ids = simulator.fleet
      .applications()
      .map(({ id }) => String(id))
      .toSorted();
    const files = { 'config.yaml': configOf(baseUrl), 'api-key': 'NRAK-E2E\n' };
    await withFiles(files, async (directory) => {
      const daemons = await Promise.all(
        [0, 1, 2].map(async (ordinal) =>
          startDaemon([`--config.file=${directory}/config.yaml`, '--total-shards=3'], {
            POD_NAME: `exporter-${ordinal}`,
          }),
        ),
      );
      const targets = daemons.map(({ url }) => new URL(url).host);
      await writeFile(
        join(directory, 'prometheus.yml'),
        `scrape_configs:
- job_name: newrelic
  scrape_interval: 1s
  static_configs: [{ targets: ${JSON.stringify(targets)} }]
`,
      );
      const prometheus = await startPrometheus(prometheusTool.path, directory);
      const valuesOf = async (expression: string): Promise<readonly (number | undefined)[]> =>
        (await prometheus.query(expression)).series.map(({ values }) => values[0]);
      try {
        const shown = await until(async () => {
          const all = await Promise.all(daemons.map(async ({ url }) => applicationsAt(url)));
          return all.flat().length >= ids.length ? all : undefined;
        });
        const missing = expressionOf('NewRelicExporterShardMissing');
        await until(async () => {
          const [up] = await valuesOf('count(newrelic_exporter_shard)');
          return up === 3 ? true : undefined;
        });
        const alertBefore = await valuesOf(missing);

        daemons[1]?.child.kill('SIGKILL');
        const alertAfter = await until(async () => {
          const values = await valuesOf(missing);
          return values.length > 0 ? values : undefined;
        });
        const alive = daemons.filter((_, index) => index !== 1);
        const later = await Promise.all(alive.map(async ({ url }) => applicationsAt(url)));
        const failed = await valuesOf('sum(newrelic_exporter_polls_failed_total)');

        expect(shown.flat().toSorted()).toEqual(ids);
        expect(shown.every((one) => one.length > 0)).toBe(true);
        expect(alertBefore).toEqual([]);
        expect(alertAfter).toEqual([1]);
        expect(later).toEqual([shown[0], shown[2]]);
        expect(failed).toEqual([0]);
        expect(simulator.journal.maxInAnyWindow(60_000)).toBeLessThanOrEqual(budget);
        expect(simulator.violations()).toBe(0);
      } finally {
        await prometheus.stop();
        await Promise.all(daemons.map(stopProgram));
        await simulator.stop();
      }
    });
  });
});
