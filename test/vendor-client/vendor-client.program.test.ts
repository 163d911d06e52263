import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { metricNames } from '../../src/simulator/simulated-application.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { goToolOrSkip } from '../support/go-tool.ts';

const client = goToolOrSkip('vendor-client');
const run = promisify(execFile);

/** What the program prints; see main.go. */
interface Report {
  readonly accounts: readonly { readonly id: number; readonly name: string }[];
  readonly guids: readonly string[];
  readonly truncated: boolean;
  readonly count: number;
  readonly applications: readonly Readonly<Record<string, unknown>>[];
  readonly answers: readonly {
    readonly results: readonly Readonly<Record<string, unknown>>[] | null;
    readonly otherResult: Readonly<Record<string, unknown>> | null;
    readonly totalResult: Readonly<Record<string, unknown>> | null;
    readonly facets: readonly string[] | null;
    readonly error: string;
  }[];
}

const accountId = 1_234_567;
const applicationQuery = `domain = 'APM' AND type = 'APPLICATION' AND accountId = '${accountId}'`;
const calls = 'SELECT count(newrelic.timeslice.value) AS calls FROM Metric';
const fromMs = Date.UTC(2026, 8, 1, 9, 50);
const untilMs = Date.UTC(2026, 8, 1, 9, 55);
const range = `SINCE ${fromMs} UNTIL ${untilMs}`;
const restRange = 'from=2026-09-01T09:50:00Z&to=2026-09-01T09:55:00Z';

async function aVendor(options: SimulatorOptions): Promise<{
  readonly vendor: Simulator;
  readonly ask: (...queries: readonly string[]) => Promise<Report>;
  /** The text of an answer of the REST API. */
  readonly rest: (target: string) => Promise<string>;
}> {
  // The client asks for every field and type that it knows.
  const graphql = { checksDocuments: false };
  const vendor = createSimulator({ ...options, graphql }, { clock: createFakeClock() });
  const { baseUrl } = await vendor.start();
  onTestFinished(async () => vendor.stop());
  const ask = async (...queries: readonly string[]): Promise<Report> => {
    const { stdout } = await run(
      client.path,
      [`${baseUrl}/graphql`, String(accountId), applicationQuery, ...queries],
      { env: { ...process.env, NEW_RELIC_API_KEY: vendor.apiKeys[0] }, maxBuffer: 2 ** 26 },
    );
    return JSON.parse(stdout) as Report;
  };
  const rest = async (target: string): Promise<string> => {
    const headers = { 'Api-Key': vendor.apiKeys[0] ?? '', Accept: 'application/json' };
    return (await fetch(`${baseUrl}${target}`, { headers })).text();
  };
  return { vendor, ask, rest };
}

describe.skipIf(client.skip)(`the vendor's own client${client.note}`, () => {
  it('finds the accounts and, page by page, all applications', async () => {
    const { vendor, ask } = await aVendor({ fleet: { applications: 450 } });

    const { accounts, guids, truncated, count, applications } = await ask();

    const expected = vendor.fleet
      .applications()
      .map(({ id }) =>
        Buffer.from(`${accountId}|APM|APPLICATION|${id}`).toString('base64').replaceAll('=', ''),
      );
    expect(accounts).toEqual([expect.objectContaining({ id: accountId })]);
    expect({ guids, truncated }).toEqual({ guids: expected, truncated: false });
    expect({ count, first: applications.length }).toEqual({ count: 450, first: 200 });
  });

  it('decodes every field that it knows of an application', async () => {
    const { ask } = await aVendor({
      fleet: {
        traffic: 'flat',
        applications: [
          {
            id: 100,
            name: 'shop',
            kind: 'web',
            language: 'java',
            healthStatus: 'orange',
            webRpm: 120,
            hosts: 3,
          },
          {
            id: 200,
            name: 'old',
            kind: 'not_reporting',
            language: 'ruby',
            healthStatus: 'green',
            hosts: 1,
          },
        ],
      },
    });

    const { applications } = await ask();

    const common = { accountId, apdexTarget: 0.5, guid: expect.any(String) as string };
    expect(applications).toEqual([
      {
        ...common,
        name: 'shop',
        applicationId: 100,
        reporting: true,
        alertSeverity: 'WARNING',
        language: 'java',
        hostCount: 3,
        throughput: 120,
      },
      {
        ...common,
        name: 'old',
        applicationId: 200,
        reporting: false,
        alertSeverity: 'NOT_ALERTING',
        language: 'ruby',
        hostCount: 0,
        throughput: 0,
      },
    ]);
  });

  it('reads the same calls from NRQL as the REST API counts', async () => {
    const { vendor, ask, rest } = await aVendor({ fleet: { applications: 20, hosts: 100 } });
    const ids = vendor.fleet.applications().map(({ id }) => id);

    const { answers } = await ask(
      `${calls} WHERE appId IN (${ids.join(',')}) AND metricTimesliceName IN ('${metricNames.join("','")}') ` +
        `FACET appId, metricTimesliceName LIMIT 5000 ${range}`,
    );

    const [answer] = answers;
    expect(answer).toMatchObject({
      error: '',
      facets: ['appId', 'metricTimesliceName'],
      otherResult: { calls: 0 },
    });
    const rows = answer?.results ?? [];
    expect(rows.length).toBeGreaterThan(15);
    for (const { appId, metricTimesliceName: name, calls: counted } of rows) {
      const query = `names[]=${String(name)}&values[]=call_count&summarize=true&${restRange}`;
      const text = await rest(`/v2/applications/${String(appId)}/metrics/data.json?${query}`);
      expect(text).toContain(`"call_count":${String(counted)}}`);
    }
  });

  it('reads one row without facets, a text as the facet of one attribute, and a mistake', async () => {
    const applications = [
      { id: 100, kind: 'web' as const, webRpm: 120, hosts: [{ name: 'web-1' }] },
    ];
    const { ask } = await aVendor({ fleet: { traffic: 'flat', applications } });
    const ofShop = `${calls} WHERE appId = 100 AND metricTimesliceName = 'HttpDispatcher'`;

    const { answers } = await ask(
      `${ofShop} ${range}`,
      `${ofShop} FACET host ${range}`,
      `${ofShop} GROUP BY host`,
    );

    expect(answers).toEqual([
      { results: [{ calls: 600 }], otherResult: null, totalResult: null, facets: null, error: '' },
      {
        results: [{ facet: 'web-1', host: 'web-1', calls: 600 }],
        otherResult: { calls: 0 },
        totalResult: { calls: 600 },
        facets: ['host'],
        error: '',
      },
      {
        results: null,
        otherResult: null,
        totalResult: null,
        facets: null,
        error: expect.stringContaining('NRQL Syntax Error') as string,
      },
    ]);
  });
});
