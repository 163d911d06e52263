import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applicationPage,
  unknownApplicationPage,
} from '../../../src/web/status/application-page.ts';
import type { PageContext } from '../../../src/web/status/document.ts';
import { hostileQuery } from '../../support/hostile-text.ts';
import { textOf } from '../../support/html-parts.ts';
import {
  anApplicationStatus,
  aReading,
  aStatusSource,
  aThroughput,
  inState,
} from '../../support/status-source.ts';
import { applicationPageOf, rowsOn, statusPageOf } from './pages.ts';

const context: PageContext = {
  telemetryPath: '/metrics',
};

const four = anApplicationStatus({
  ...inState('failing'),
  hostIds: ['9', '11', '12', '100'],
  hostNames: new Map([
    ['9', 'web-b'],
    ['11', 'Web-a'],
    ['12', 'db'],
  ]),
  failedHostIds: new Set(['12']),
  reading: aReading({
    hosts: new Map([
      ['9', aThroughput(10, 1)],
      ['11', aThroughput(2000)],
      ['12', aThroughput(5)],
    ]),
  }),
});

describe('applicationPage', () => {
  it.each([
    'checkout',
    'failing The last poll did not get everything.',
    "server since 02:52:48 UTC (7 min 12 s ago): GET /v2/applications/101/metrics/data.json answered 500: the problem is on New Relic's side. Wait, and see its status page.",
    'Older values are held; they are dropped at 03:07:00 UTC (in 7 min) unless a poll succeeds.',
    'held 02:56:46 UTC (3 min 14 s ago)',
    '02:59:46 UTC (14 s ago)',
    '3 of 4',
    'match=^checkout',
    'all 4',
    'failing 1',
    'The last poll got nothing of it (server).',
    'New Relic gave no value for it.',
  ])('says: %s', (text) => {
    expect(textOf(applicationPageOf(four)).split('\n')).toContain(text);
  });

  it('does not say of each host what is said of all of them above', () => {
    const all = { ...four, failedHostIds: new Set(four.hostIds) };

    expect(rowsOn(applicationPageOf(all))).toHaveLength(4);
    expect(textOf(applicationPageOf(all))).not.toContain('got nothing of it');
  });

  it.each([
    { what: 'a host without values', application: four, query: '', is: true },
    { what: 'only hosts with values shown', application: four, query: 'state=up', is: false },
    { what: 'values of all hosts', application: anApplicationStatus(), query: '', is: false },
  ])('has a column for reasons: $is, with $what', ({ application, query, is }) => {
    expect(textOf(applicationPageOf(application, query)).includes('\nWhy\n')).toBe(is);
  });

  it.each([
    { what: 'nothing', parts: { reading: undefined, lastSuccessMs: undefined }, is: true },
    { what: 'some hosts', parts: { lastSuccessMs: undefined }, is: false },
    { what: 'everything, once', parts: { reading: undefined }, is: false },
  ])('says that nothing has arrived yet: $is, when a failing one got $what', ({ parts, is }) => {
    const failing = anApplicationStatus({ ...inState('failing'), ...parts });
    const meaning = is ? 'Nothing of it has arrived yet.' : 'The last poll did not get everything.';

    expect(textOf(applicationPageOf(failing))).toContain(`failing ${meaning}`);
    expect(statusPageOf(aStatusSource({ applications: [failing] }))).toContain(
      `title="${meaning}">failing`,
    );
  });

  it('shows what is not known as unknown', () => {
    const text = textOf(applicationPageOf(anApplicationStatus(inState('waiting'))));

    expect(text).toContain('Last poll\nnot yet\nLast success\nnever');
    expect(text).not.toMatch(/undefined|NaN|\b0 s\b/u);
  });

  it.each([
    { query: '', hosts: ['12', '100', '11', '9'] },
    { query: 'sort=id', hosts: ['9', '11', '12', '100'] },
    { query: 'sort=-id', hosts: ['100', '12', '11', '9'] },
    { query: 'sort=name', hosts: ['100', '12', '11', '9'] },
    { query: 'sort=-web', hosts: ['11', '9', '12', '100'] },
    { query: 'sort=other', hosts: ['9', '12', '100', '11'] },
    { query: 'state=empty', hosts: ['100'] },
    { query: 'q=WEB', hosts: ['11', '9'] },
    { query: 'q=12', hosts: ['12'] },
    { query: 'q=none', hosts: [] },
  ])('lists the hosts $hosts for "$query"', ({ query, hosts }) => {
    expect(rowsOn(applicationPageOf(four, query))).toEqual(hosts);
  });

  it('keeps the application in the links and in the form', () => {
    const page = applicationPageOf(four, 'q=web&sort=name');

    expect(page).toContain(
      'href="./applications?account=production&amp;id=101&amp;sort=-name&amp;q=web"',
    );
    expect(page).toContain('<input type="hidden" name="account" value="production">');
    expect(page).toContain('<input type="hidden" name="id" value="101">');
  });

  it('says so where no hosts are polled', () => {
    expect(textOf(applicationPageOf(anApplicationStatus({ hostIds: [] })))).toContain(
      'No hosts of this application are polled.',
    );
  });

  it('shows 12,000 hosts in pages', () => {
    const hostIds = Array.from({ length: 12_000 }, (_, index) => String(index));
    const huge = anApplicationStatus({ hostIds, hostNames: new Map(), reading: undefined });

    expect(rowsOn(applicationPageOf(huge))).toHaveLength(100);
    expect(textOf(applicationPageOf(huge, 'page=120'))).toContain('11,901 to 12,000 of 12,000');
    expect(gzipSync(applicationPageOf(huge)).length).toBeLessThan(100_000);
  });

  it('is found whatever the account is called', () => {
    fc.assert(
      fc.property(
        hostileQuery.map((text) => `a${text}`),
        (account) => {
          expect(applicationPageOf(anApplicationStatus({ account }))).toContain(
            '<h1><bdi>checkout</bdi></h1>',
          );
        },
      ),
    );
  });

  it('shows in full what the list cuts', () => {
    const name = 'x'.repeat(10_240);
    const message = 'y'.repeat(10_240);
    const failure = { reason: 'server', message, sinceMs: 0 } as const;
    const page = applicationPageOf(anApplicationStatus({ ...inState('failing'), name, failure }));

    expect(page).toContain(name);
    expect(page).toContain(message);
  });
});

describe('unknownApplicationPage', () => {
  it.each([
    {
      query: 'account=a&id=5',
      text: 'does not poll an application with the id 5 in the account a.',
    },
    { query: '', text: 'The address names no application.' },
    { query: 'id=5', text: 'The address names no application.' },
  ])('explains "$query" and leads back', ({ query, text }) => {
    const params = new URLSearchParams(query);
    const page = unknownApplicationPage(params, context);

    expect(applicationPage(aStatusSource(), params, context)).toBeUndefined();
    expect(textOf(page)).toContain(text);
    expect(page).toContain('<a href="./">All applications</a>');
  });
});
