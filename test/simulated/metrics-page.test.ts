import { spawnSync } from 'node:child_process';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDaemon } from '../../src/daemon/accounts.ts';
import type { CustomMetric } from '../../src/model/polled-series.ts';
import { fixedFamilies } from '../../src/publish/families.ts';
import type { Page } from '../../src/publish/page.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createMetricsRoute, type MetricsSources } from '../../src/web/routes.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { parseExposition, parseOpenMetrics } from '../support/exposition-parser.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { toolOrSkip } from '../support/tools.ts';

const golden = new URL('../golden/metrics-page.txt', import.meta.url);
const openGolden = new URL('../golden/metrics-page-openmetrics.txt', import.meta.url);
const promtool = toolOrSkip('promtool');

const misspelt: CustomMetric = {
  metric: 'Custom/Qeue "Depth"',
  value: 'average_value',
  as: 'queue_depth',
  scale: 1,
  help: undefined,
  labels: {},
  scope: 'both',
};

/** A page in both formats. */
interface Pages {
  readonly text: string;
  readonly openMetrics: string;
}

/** The whole page of a small account after two minutes of simulated time. */
async function wholePages(): Promise<Pages> {
  const platform = createFakePlatform({
    env: { NEW_RELIC_API_KEY: 'NRAK-TEST', NEWRELIC_EXPORTER_REVISION: 'abc1234' },
    openTransport: async () => inMemoryTransport(simulator),
  });
  const simulator = createSimulator(
    {
      apiKeys: ['NRAK-TEST'],
      latencyMs: 150,
      ingestDelayMs: 0,
      fleet: {
        traffic: 'flat',
        applications: [
          { id: 101, name: 'shop', kind: 'both', webRpm: 120, otherRpm: 30, hosts: 2 },
          { id: 102, name: 'worker "nightly"', kind: 'other', otherRpm: 60, hosts: 1 },
          { id: 103, name: 'silent', kind: 'not_reporting' },
        ],
      },
    },
    { clock: platform.clock },
  );
  const apps = [
    anEntry({
      labels: { team: 'payments' },
      poll: { hostNames: true, metrics: ['throughput', misspelt] },
    }),
    anEntry({ selector: { kind: 'id', id: '999' } }),
  ];
  const daemon = await createDaemon(
    { accounts: [anAccount()], apps },
    { platform, logger: createFakeLogger() },
  );
  const running = daemon.run(platform.stopSignal);
  await platform.clock.advance(120_000);
  const sources = {
    page: async (): Promise<Page> => daemon.store.page(),
    selfMetrics: async (): Promise<string> => own,
  };
  const own = await daemon.metrics.text();
  const [text, openMetrics] = await Promise.all([
    scraped(sources, 'text/plain'),
    scraped(sources, 'application/openmetrics-text'),
  ]);
  platform.stop();
  await platform.clock.advance(0);
  await running;
  return { text, openMetrics };
}

async function scraped(sources: MetricsSources, accept: string): Promise<string> {
  const request = new IncomingMessage(new Socket());
  request.headers.accept = accept;
  const { body } = await createMetricsRoute(sources)(request);
  return Buffer.concat(body).toString();
}

/** Without the samples that differ from process to process and from one Node to the next. */
function reproducible(page: string): string {
  return page
    .split('\n')
    .filter((line) => !/^(?:process_|nodejs_)/u.test(line))
    .map((line) => line.replace(/node_version="[^"]*"/u, 'node_version="…"'))
    .join('\n');
}

describe('the whole /metrics page', () => {
  let page: string;
  let openPage: string;
  beforeAll(async () => {
    ({ text: page, openMetrics: openPage } = await wholePages());
  });

  it('is the golden file', async () => {
    await expect(reproducible(page)).toMatchFileSnapshot(golden.pathname);
  });

  it('is the other golden file in OpenMetrics', async () => {
    await expect(reproducible(openPage)).toMatchFileSnapshot(openGolden.pathname);
  });

  it('has the same samples in both formats', () => {
    const samples = parseExposition(Buffer.from(page)).flatMap((family) => family.samples);

    expect(parseOpenMetrics(Buffer.from(openPage)).flatMap((family) => family.samples)).toEqual(
      samples,
    );
  });

  it('is a valid exposition without a duplicate family or series', () => {
    const families = parseExposition(Buffer.from(page));

    expect(families.length).toBeGreaterThan(50);
  });

  it.skipIf(promtool.skip)(`passes promtool check metrics${promtool.note}`, () => {
    const { stdout, stderr } = spawnSync(promtool.path, ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
    });

    // promtool before 2.50 took the word in a gauge's name for its type; see docs/metrics.md.
    const complaints = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line !== '' && !isOldComplaint(line));
    expect(complaints).toEqual([]);
  });
});

function isOldComplaint(line: string): boolean {
  return fixedFamilies.some(
    ({ name }) => line === `${name} metric name should not include type 'summary'`,
  );
}
