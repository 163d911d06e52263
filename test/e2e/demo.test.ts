import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, type Program, startProgram, stopProgram, until } from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';

const chromium = toolOrSkip('chromium');

/** Chromium's own connections to the world are switched off: the tests stay on loopback. */
const chromiumFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

async function domOf(url: string): Promise<string> {
  const profile = await mkdtemp(join(tmpdir(), 'newrelic-exporter-chromium-'));
  try {
    const { stdout } = await promisify(execFile)(chromium.path, [
      ...chromiumFlags,
      `--user-data-dir=${profile}`,
      '--dump-dom',
      url,
    ]);
    return stdout;
  } finally {
    await rm(profile, { recursive: true, force: true });
  }
}

describe.each([
  { source: 'rest', applications: 12, hosts: 48 },
  // An idle application has no values, and two of the hosts have one name.
  { source: 'nerdgraph', applications: 11, hosts: 40 },
])('the demo over $source', (expected) => {
  let program: Program;
  let url = '';

  beforeAll(async () => {
    program = startProgram([
      'demo',
      '--web.listen-address=127.0.0.1:0',
      `--demo.source=${expected.source}`,
    ]);
    url = await until(
      () => /status page\s+(http:\/\/localhost:\d+)\//u.exec(program.stdout())?.[1],
    );
    url = url.replace('localhost', '127.0.0.1');
    await until(async () => ((await get(`${url}/-/ready`)).status === 200 ? true : undefined));
  });

  afterAll(async () => {
    const { code } = await stopProgram(program);
    expect(code).toBe(0);
  });

  it('says what to open, and how to start it with faults', () => {
    expect(program.stdout()).toContain('/metrics');
    expect(program.stdout()).toMatch(/^ {2}node \S+main\.js demo --web\S+ --demo\S+ --faults$/mu);
  });

  it('has values for applications and hosts of all kinds within seconds', async () => {
    const { text } = await get(`${url}/metrics`);

    const applications = text.match(/^newrelic_application_requests_per_minute\{/gmu) ?? [];
    const hosts = text.match(/^newrelic_application_host_requests_per_minute\{/gmu) ?? [];
    expect(applications.length).toBeGreaterThanOrEqual(expected.applications);
    expect(hosts.length).toBeGreaterThanOrEqual(expected.hosts);
    expect(text).toContain('newrelic_application_reporting{');
    expect(text).toMatch(/newrelic_application_reporting\{.*\} 0\n/u);
  });

  it.skipIf(chromium.skip)(
    `shows the account on its page in a browser${chromium.note}`,
    async () => {
      const dom = await domOf(`${url}/`);

      expect(dom).toContain('New Relic exporter');
      expect(dom).toMatch(/11 applications(?: and 1 query)?, all polls succeed\./u);
      expect(dom).toContain('href="./metrics"');
    },
  );
});
