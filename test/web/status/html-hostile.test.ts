import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApplicationStatus, StatusSource } from '../../../src/model/status.ts';
import { configPage } from '../../../src/web/status/status-page.ts';
import { missingMetric } from '../../publish/account-status.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { skeletonOf } from '../../support/html-parts.ts';
import {
  aFullReading,
  anAccountDetails,
  anApplicationStatus,
  aProcessStatus,
  aQueryStatus,
  aStatusSource,
  inState,
  statusNowMs,
} from '../../support/status-source.ts';
import { applicationPageOf, namesOn, statusPageOf } from './pages.ts';

function hostileSource(text: string): StatusSource {
  return aStatusSource({
    process: aProcessStatus({
      build: { version: text, revision: text, nodeVersion: text },
      reload: { ...aProcessStatus().reload, configFile: text, problem: text },
    }),
    accounts: [
      anAccountDetails({
        name: `a${text}`,
        state: 'down',
        error: text,
        missingSelectors: [text],
        missingMetrics: [{ ...missingMetric, selector: text, metric: text }],
        key: { location: text, problem: text, sinceMs: 0, readMs: 0 },
        queries: [aQueryStatus(text, 'failing', { account: `a${text}` })],
      }),
      anAccountDetails(),
    ],
    applications: [
      anApplicationStatus({
        ...inState('failing'),
        account: `a${text}`,
        id: text,
        name: text,
        selector: text,
        labels: { [text]: text },
        failure: { reason: 'server', message: text, sinceMs: statusNowMs - 1000 },
      }),
    ],
  });
}

function hostileApplication(text: string): ApplicationStatus {
  const reading = aFullReading();
  const series = reading.series.map((one) => ({ ...one, metric: text, labels: { queue: text } }));
  return anApplicationStatus({
    ...inState('failing'),
    name: text,
    selector: text,
    labels: { [text]: text },
    failure: { reason: 'server', message: text, sinceMs: 0 },
    reading: { ...reading, series },
    hostIds: ['11'],
    hostNames: new Map([['11', text]]),
  });
}

describe('hostile texts', () => {
  it.each<{ where: string; page: (text: string) => string }>([
    { where: 'the status page', page: (text) => statusPageOf(hostileSource(text)) },
    {
      where: 'its query',
      page: (text) => {
        const asked = `\u{1f4a3}${text}`;
        const params = { q: asked, account: asked, query_q: asked };
        return statusPageOf(aStatusSource(), new URLSearchParams(params));
      },
    },
    {
      where: 'the page of an application and a host',
      page: (text) => applicationPageOf(hostileApplication(text), 'host=11'),
    },
    {
      where: 'the configuration',
      page: (text) =>
        configPage(aStatusSource({ effectiveConfig: text }), { telemetryPath: '/metrics' }),
    },
  ])('stay in their elements and change no tag in $where', ({ page }) => {
    const harmless = skeletonOf(page('x'));
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(skeletonOf(page(text))).toEqual(harmless);
      }),
    );
  });

  it('cannot be seen as anything else', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const page = statusPageOf(hostileSource(text)).replaceAll(/ value="[^"]*"/gu, '');

        expect(page).not.toMatch(/(?![\t\n])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  it('are cut where they are long', () => {
    const long = aStatusSource({
      applications: [anApplicationStatus({ name: 'x'.repeat(10_240) })],
    });

    expect(namesOn(statusPageOf(long))).toEqual([`${'x'.repeat(99)}…`]);
    expect(statusPageOf(long).length).toBeLessThan(statusPageOf(aStatusSource()).length + 200);
  });
});
