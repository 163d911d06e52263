import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, stopProgram } from '../support/daemon-process.ts';
import { demoSentence, type RunningDemo, startDemo } from './running-demo.ts';

describe.each([
  { source: 'rest', applications: 12, hosts: 48 },
  // An idle application has no values, and two of the hosts have one name.
  { source: 'nerdgraph', applications: 11, hosts: 40 },
])('the demo over $source', (expected) => {
  let demo: RunningDemo;

  beforeAll(async () => {
    demo = await startDemo(expected.source);
  });

  afterAll(async () => {
    const { code } = await stopProgram(demo.program);
    expect(code).toBe(0);
  });

  it('says what to open, and how to start it with faults', () => {
    expect(demo.program.stdout()).toContain('/metrics');
    expect(demo.program.stdout()).toMatch(
      /^ {2}node \S+main\.js demo --web\S+ --demo\S+ --faults$/mu,
    );
  });

  it('has values for applications and hosts of all kinds within seconds', async () => {
    const { text } = await get(`${demo.url}/metrics`);

    const applications = text.match(/^newrelic_application_requests_per_minute\{/gmu) ?? [];
    const hosts = text.match(/^newrelic_application_host_requests_per_minute\{/gmu) ?? [];
    expect(applications.length).toBeGreaterThanOrEqual(expected.applications);
    expect(hosts.length).toBeGreaterThanOrEqual(expected.hosts);
    expect(text).toContain('newrelic_application_reporting{');
    expect(text).toMatch(/newrelic_application_reporting\{.*\} 0\n/u);
  });

  it('shows the account on its page', async () => {
    const { text } = await get(`${demo.url}/`);

    expect(text).toContain('New Relic exporter');
    expect(text).toMatch(demoSentence);
    expect(text).toContain('href="./metrics"');
  });
});
