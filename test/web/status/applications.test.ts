import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { accountCauses } from '../../../src/web/status/applications.ts';
import { tagsOf, textOf } from '../../support/html-parts.ts';
import {
  aFullReading,
  anAccountDetails,
  anApplicationStatus,
  aStatusSource,
  inState,
  manyApplications,
  statusNowMs,
} from '../../support/status-source.ts';
import { namesOn, statusPageOf } from './pages.ts';

describe('the list of applications', () => {
  const source = aStatusSource({
    accounts: [anAccountDetails(), anAccountDetails({ name: 'R&D' })],
    applications: [
      anApplicationStatus({ id: '1', name: 'shop', labels: { team: 'web' } }),
      anApplicationStatus({ ...inState('failing'), id: '2', name: 'mail' }),
      anApplicationStatus({ id: '3', name: 'Auth', account: 'R&D' }),
      anApplicationStatus({ ...inState('dropped'), id: '40', name: 'old', account: 'R&D' }),
      anApplicationStatus({
        ...inState('failing'),
        id: '5',
        name: 'zoo',
        failure: { reason: 'dns', message: 'No address.', sinceMs: statusNowMs - 1000 },
      }),
    ],
  });

  it.each([
    { query: '', names: ['old', 'zoo', 'mail', 'Auth', 'shop'] },
    { query: 'state=failing', names: ['zoo', 'mail'] },
    { query: 'account=R%26D', names: ['old', 'Auth'] },
    { query: 'account=R%26D&state=up', names: ['Auth'] },
    { query: 'q=SHO', names: ['shop'] },
    { query: 'q=40', names: ['old'] },
    { query: 'q=team%3Dweb', names: ['shop'] },
    { query: 'q=dns', names: ['zoo'] },
    { query: 'sort=name', names: ['Auth', 'mail', 'old', 'shop', 'zoo'] },
    { query: 'sort=-name', names: ['zoo', 'shop', 'old', 'mail', 'Auth'] },
    { query: 'sort=account', names: ['zoo', 'mail', 'shop', 'old', 'Auth'] },
    { query: 'sort=state', names: ['old', 'zoo', 'mail', 'Auth', 'shop'] },
    { query: 'page=7', names: ['old', 'zoo', 'mail', 'Auth', 'shop'] },
  ])('is $names for "$query"', ({ query, names }) => {
    expect(namesOn(statusPageOf(source, query))).toEqual(names);
  });

  it.each(['q=nothing', 'account=unknown', 'state=silent', 'q=%3Cscript%3E'])(
    'says that nothing matches "%s"',
    (query) => {
      const page = statusPageOf(source, query);

      expect(namesOn(page)).toEqual([]);
      expect(textOf(page)).toContain('No matches. Show all applications');
      expect(page).toContain('<a href="./">Show all applications</a>');
    },
  );

  it('keeps what was asked for, in the form and in the links', () => {
    const page = statusPageOf(source, 'account=R%26D&state=dropped&q=OLD&sort=-web');
    const inputs = tagsOf(page).filter(({ name }) => name === 'input');

    expect(inputs.map(({ attributes }) => [attributes['name'], attributes['value']])).toEqual([
      ['state', 'dropped'],
      ['sort', '-web'],
      ['q', 'OLD'],
    ]);
    expect(page).toContain('<option value="R&amp;D" selected>');
    expect(page).toContain('aria-sort="descending"');
    expect(page).toContain('./?account=R%26D&amp;state=dropped&amp;sort=web&amp;q=OLD');
    expect(page).toContain('aria-current="true">dropped');
  });

  it('counts every state of what the search leaves', () => {
    const text = textOf(statusPageOf(source, 'account=production&state=up'));

    expect(text).toContain('all 3\nfailing 2\nup 1\n');
  });

  it('has response times and errors where any application has them', () => {
    const reading = aFullReading();
    const both = aStatusSource({
      applications: [anApplicationStatus(), anApplicationStatus({ id: '2', reading })],
    });

    expect(textOf(statusPageOf(both))).toMatch(
      /\nWeb time\n(?:Other time\n)?Errors\nValues from\n/u,
    );
    expect(textOf(statusPageOf(both))).toContain('\n123 ms\n');
    expect(textOf(statusPageOf(source))).not.toContain('Web time');
  });

  it('tells applications of the same name apart', () => {
    const twins = ['1', '2'].map((id) => anApplicationStatus({ id, name: 'shop' }));
    const other = anApplicationStatus({ id: '3', name: 'mail' });
    const text = textOf(statusPageOf(aStatusSource({ applications: [...twins, other] })));

    expect(text).toMatch(/^shop 1$[^]*^shop 2$/mu);
    expect(text).toMatch(/^mail$/mu);
  });

  it('comes in pages of 100', () => {
    const many = aStatusSource({ applications: manyApplications(250) });
    const first = statusPageOf(many);
    const last = statusPageOf(many, 'page=3&sort=name');

    expect(namesOn(first)).toHaveLength(100);
    expect(textOf(first)).toContain('1 to 100 of 250');
    expect([first, last].map((page) => /(?:Previous|Next)<\/a>/u.exec(page)?.[0])).toEqual([
      'Next</a>',
      'Previous</a>',
    ]);
    expect(last).not.toContain('>Next</a>');
    expect(namesOn(last)).toHaveLength(50);
    expect(textOf(last)).toContain('201 to 250 of 250');
    expect(last).toContain('href="./?sort=name&amp;page=2">Previous</a>');
  });

  it('takes less than 100 KB on the wire for 2000 applications', () => {
    const page = statusPageOf(aStatusSource({ applications: manyApplications(2000) }));

    expect(gzipSync(page).length).toBeLessThan(100_000);
  });
});

describe('accountCauses', () => {
  const refusals = {
    calls: 8,
    sinceMs: statusNowMs,
    lastMs: statusNowMs,
    cause: 'key_limit' as const,
  };

  it.each([
    { what: 'lists fail alike', reason: 'server', account: { errorReason: 'server' }, is: true },
    { what: 'lists fail otherwise', reason: 'dns', account: { errorReason: 'server' }, is: false },
    { what: 'nothing else fails', reason: 'server', account: {}, is: false },
    {
      what: 'the account pauses',
      reason: 'throttled',
      account: { backoffUntilMs: statusNowMs + 1 },
      is: true,
    },
    { what: 'there were 429s', reason: 'throttled', account: { refusals }, is: true },
    { what: 'the 429s are over', reason: 'throttled', account: {}, is: false },
    { what: 'it fails otherwise', reason: 'timeout', account: { refusals }, is: false },
  ] as const)('are those of an application: $is, while $what', ({ reason, account, is }) => {
    const failure = { reason, message: '', sinceMs: statusNowMs };
    const isCaused = accountCauses([anAccountDetails(account)]);

    expect(isCaused(anApplicationStatus({ ...inState('failing'), failure }))).toBe(is);
    expect(isCaused(anApplicationStatus({ ...inState('gone'), failure }))).toBe(false);
    expect(isCaused(anApplicationStatus({ account: 'unknown', failure }))).toBe(false);
  });
});
