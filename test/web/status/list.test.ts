import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../support/cpu-time.ts';
import { hostileQuery } from '../../support/hostile-text.ts';
import { tagsOf, textOf } from '../../support/html-parts.ts';
import { slow } from '../../support/slow.ts';
import {
  anAccountDetails,
  anApplicationStatus,
  aQueryStatus,
  aStatusSource,
  inState,
  manyApplications,
} from '../../support/status-source.ts';
import { applicationPageOf, namesOn, rowsOn, statusPageOf } from './pages.ts';

const source = aStatusSource({
  accounts: [
    anAccountDetails({
      queries: [
        aQueryStatus('orders', 'up', { intervalSeconds: 30 }),
        aQueryStatus('carts', 'failing'),
        aQueryStatus('empty', 'up', { missing: 'it has no rows' }),
      ],
    }),
    anAccountDetails({
      name: 'other',
      queries: [aQueryStatus('mails', 'up', { account: 'other' })],
    }),
  ],
  applications: [
    anApplicationStatus({ id: '1', name: 'Shop' }),
    anApplicationStatus({ ...inState('failing'), id: '2', name: 'mail', account: 'other' }),
  ],
});

/** The keys of the rows of both lists, those of the queries first. */
function rowsOf(query: string): readonly string[] {
  return rowsOn(statusPageOf(source, query)).flatMap((key) =>
    key.includes('/') ? [key.replace(/^.*\//u, '')] : [],
  );
}

const queries = ['carts', 'empty', 'mails', 'orders'];
const applications = ['2', '1'];

describe('a page with two lists', () => {
  it.each([
    { query: '', rows: [...queries, ...applications] },
    { query: 'state=up', rows: [...queries, '1'] },
    { query: 'query_state=no+value', rows: ['empty', ...applications] },
    { query: 'query_state=failing&state=up', rows: ['carts', '1'] },
    { query: 'query_q=ORD&q=mai', rows: ['orders', '2'] },
    { query: 'q=sho', rows: [...queries, '1'] },
    { query: 'query_sort=-name', rows: ['orders', 'mails', 'empty', 'carts', ...applications] },
    { query: 'query_sort=-calls&sort=name', rows: ['orders', 'carts', 'empty', 'mails', '2', '1'] },
    { query: 'account=other', rows: ['mails', '2'] },
    { query: 'account=other&query_q=orders', rows: ['2'] },
  ])('has $rows for "$query"', ({ query, rows }) => {
    expect(rowsOf(query)).toEqual(rows);
  });

  it('keeps in the links and the form of one what is asked of the other', () => {
    const page = statusPageOf(source, 'account=other&query_state=up&query_q=m&q=mail&sort=name');
    const fields = page
      .split('<form ')
      .slice(1)
      .map((form) =>
        tagsOf(`<form ${form.split('</form>')[0]}`)
          .filter(({ name }) => name === 'input' || name === 'select')
          .map(({ attributes }) => attributes['name']),
      );

    expect(fields).toEqual([
      ['account', 'sort', 'q', 'query_state', 'query_q'],
      ['query_state', 'query_q', 'sort', 'q', 'account'],
    ]);
    expect(page).toContain('href="./?account=other&amp;sort=name&amp;q=mail&amp;query_q=m">all');
    expect(textOf(page)).toContain('Show all\n');
  });
});

/** The names of the hosts on a page. */
const hostsOn = (page: string): readonly string[] =>
  [...page.matchAll(/<th scope="row"><bdi>([^<]*)/gu)].map(([, name = '']) => name);

describe('names with numbers', () => {
  const written = ['Gateway 10', 'gateway 2', 'gateway 100', 'edge'];
  const sorted = ['edge', 'gateway 2', 'Gateway 10', 'gateway 100'];
  const ids = written.map((_, index) => String(index));
  const many = aStatusSource({
    accounts: written.map((name) =>
      anAccountDetails({ name, queries: [aQueryStatus(name, 'up', { account: 'production' })] }),
    ),
    applications: written.map((name, index) => anApplicationStatus({ name, id: String(index) })),
  });
  const hosts = anApplicationStatus({
    hostIds: ids,
    hostNames: new Map(written.map((name, index) => [String(index), name])),
  });
  const pageOf = (query: string): string => statusPageOf(many, query);

  it.each([
    { what: 'accounts', names: rowsOn(pageOf('')).slice(0, 4) },
    { what: 'queries', names: rowsOn(pageOf('')).slice(4, 8), prefix: 'production/' },
    {
      what: 'queries by name',
      names: rowsOn(pageOf('query_sort=name')).slice(4, 8),
      prefix: 'production/',
    },
    { what: 'applications', names: namesOn(pageOf('')) },
    { what: 'applications by name', names: namesOn(pageOf('sort=name')) },
    { what: 'applications by name, backwards', names: namesOn(pageOf('sort=-name')).toReversed() },
    { what: 'hosts', names: hostsOn(applicationPageOf(hosts)) },
    { what: 'hosts by name', names: hostsOn(applicationPageOf(hosts, 'sort=name')) },
  ])('are in the order of the numbers: $what', ({ names, prefix = '' }) => {
    expect(names).toEqual(sorted.map((name) => prefix + name));
  });

  it('are sorted in a fraction of a second, however many there are', slow, () => {
    const huge = aStatusSource({ applications: manyApplications(10_000) });
    const takenMs = Array.from({ length: 3 }, () => cpuMsOf(() => statusPageOf(huge, 'sort=name')));

    expect(Math.min(...takenMs)).toBeLessThan(500);
  });
});

describe('the address of a list', () => {
  it.each([
    { query: 'account=&state=' },
    { query: 'state=toString&sort=constructor&page=0' },
    { query: 'page=-1&sort=hosts-' },
    { query: 'page=99999999&q=%20' },
    { query: 'page=1e3&sort=-&evil=%00' },
    { query: '__proto__=1' },
  ])('counts what it does not know as left out: "$query"', ({ query }) => {
    expect(statusPageOf(aStatusSource(), query)).toBe(statusPageOf(aStatusSource()));
  });

  it('is read as what was written, in each link', () => {
    const texts = hostileQuery.map((text) => `a${text}`.trim());
    fc.assert(
      fc.property(texts, texts, (search, account) => {
        const asked = new URLSearchParams({ account, sort: '-name', q: search });
        const links = tagsOf(statusPageOf(source, asked)).flatMap(
          ({ attributes: { href = '' } }) =>
            href.includes('&q=') ? [new URL(href, 'http://exporter/').searchParams] : [],
        );

        expect(links.length).toBeGreaterThan(0);
        for (const link of links) {
          expect([link.get('q'), link.get('account')]).toEqual([search, account]);
        }
      }),
    );
  });
});
