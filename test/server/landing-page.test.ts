import { describe, expect, it } from 'vitest';
import type { AccountStatus } from '../../src/model/telemetry.ts';
import { landingPage } from '../../src/server/landing-page.ts';
import { anAccountStatus } from './harness.ts';

const parts = {
  build: { version: '1.2.3', revision: 'abc1234', nodeVersion: 'v24.0.0' },
  telemetryPath: '/metrics',
  configProblem: undefined,
};

function pageOf(...accounts: readonly AccountStatus[]): string {
  return landingPage({ ...parts, accounts });
}

describe('landingPage', () => {
  it('names the running program and links to what it serves', () => {
    const page = pageOf();

    expect(page).toContain('Version 1.2.3, revision abc1234');
    expect(page).toContain('Node v24.0.0');
    for (const path of ['/metrics', '/-/healthy', '/-/ready']) {
      expect(page).toContain(`href="${path}"`);
    }
  });

  it.each([
    { what: 'nothing is polled', accounts: [], says: 'Nothing is polled until it is usable' },
    {
      what: 'the old one stays in force',
      accounts: [anAccountStatus()],
      says: 'the previous one stays in force',
    },
  ])('shows in full what is wrong with the configuration, and that $what', ({ accounts, says }) => {
    const configProblem = 'config.yaml:1:10: unknown key\n  1 | apps: [{ idd: 1 }]';
    const page = landingPage({ ...parts, accounts, configProblem });

    expect(page).toContain(`<pre>${configProblem}</pre>`);
    expect(page).toContain(says);
    expect(pageOf(...accounts)).not.toContain('<h2>Configuration</h2>');
  });

  it('loads nothing', () => {
    expect(pageOf(anAccountStatus())).not.toMatch(/<script|<link|<img|src=|https?:|@import|url\(/u);
  });

  it('escapes everything that comes from outside', () => {
    const evil = `<script>alert("1")</script>&'`;
    const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;';

    const page = landingPage({
      build: { version: evil, revision: evil, nodeVersion: evil },
      telemetryPath: `/${evil}`,
      accounts: [anAccountStatus({ name: evil, error: evil, missingSelectors: [evil] })],
      configProblem: evil,
    });

    expect(page).not.toContain('<script');
    expect(page.split(escaped)).toHaveLength(9);
  });

  it.each([
    {
      what: 'an account before its first discovery',
      status: { up: undefined, firstCycleEnded: false },
      text: '>starting<',
    },
    {
      what: 'an account in its first cycle',
      status: { up: true, firstCycleEnded: false },
      text: '>first polls<',
    },
    { what: 'an account that works', status: { up: true }, text: '>up<' },
    {
      what: 'an account whose discovery fails',
      status: { up: false, error: 'The key was refused.' },
      text: 'The key was refused.',
    },
    {
      what: 'a vendor whose clock is ahead',
      status: { clockSkewSeconds: 90.4 },
      text: "New Relic's clock is 90 s ahead of this machine's",
    },
    {
      what: 'a vendor whose clock is behind',
      status: { clockSkewSeconds: -3600 },
      text: "New Relic's clock is 3600 s behind this machine's",
    },
    { what: 'an account that is down as such', status: { up: false }, text: '>down<' },
    {
      what: 'the progress of polls',
      status: { applications: 7, polledApplications: 3 },
      text: '>3 of 7<',
    },
    { what: 'rounded numbers', status: { demandRequestsPerMinute: 12.345 }, text: '>12.3<' },
    { what: 'the interval', status: { pollIntervalSeconds: 61.26 }, text: '>61.3 s<' },
    {
      what: 'a pause that New Relic asked for',
      status: { backoffUntilMs: Date.UTC(2026, 8, 1, 10) },
      text: '2026-09-01T10:00:00.000Z',
    },
    {
      what: 'a demand above the budget',
      status: { demandRequestsPerMinute: 900 },
      text: 'the interval is stretched',
    },
    {
      what: 'selectors that choose nothing',
      status: { missingSelectors: ['id=1', 'name=x'] },
      text: '<code>id=1</code>, <code>name=x</code>',
    },
  ])('shows $what', ({ status, text }) => {
    expect(pageOf(anAccountStatus(status))).toContain(text);
  });

  it('has no notes on an account without problems', () => {
    expect(pageOf(anAccountStatus())).not.toContain('class="notes"');
  });

  it('says so when no account is polled', () => {
    expect(pageOf()).toContain('polls no account');
  });
});
