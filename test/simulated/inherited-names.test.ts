import { describe, expect, it } from 'vitest';
import type { AccountSource } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { anEntry } from '../support/builders.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import {
  answered,
  faulty,
  linesOf,
  ofQueries,
  queriesStarted,
  statusSourceOf,
} from '../support/query-daemon.ts';
import { accountOne, aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';

/** What every object has a member of. */
const inherited = Object.getOwnPropertyNames(Object.prototype);
const labels = { constructor: 'a', toString: 'b', hasOwnProperty: 'c' };

const sources: readonly AccountSource[] = [
  { kind: 'rest', accountId: undefined },
  { kind: 'nerdgraph', accountId: 1_234_567 },
];

/** Two minutes of an account that is called so, and all in it. */
async function aDaemonOf(
  source: AccountSource,
  wire?: (raw: RawTransport) => RawTransport,
): Promise<RunningDaemon> {
  const account = accountOne({ name: 'constructor', source });
  const entry = anEntry({ account: account.name, labels, poll: { hostNames: true } });
  const applications = inherited.map((name, index) => ({
    id: 100 + index,
    name,
    kind: 'both' as const,
    webRpm: 60,
    language: name,
    healthStatus: name,
    hosts: [{ id: 1000 + index, name }],
    tags: { [name]: name },
  }));
  const bench = await aRunningDaemon(
    { accounts: [account], apps: [entry] },
    { fleet: { traffic: 'flat', applications }, ...(wire && { wire }) },
  );
  await bench.platform.clock.advance(120_000);
  return bench;
}

/** The same document; each object in it has members with the names that it has anyway. */
function withInherited(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withInherited);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries([
    ...Object.entries(value).map(([name, member]) => [name, withInherited(member)]),
    ...inherited.map((name) => [name, { name: 5 }]),
  ]);
}

describe.each(sources)('5.2 a name that every object has a member of, through $kind', (source) => {
  it('is a name like any other', async () => {
    const bench = await aDaemonOf(source);

    const samples = parseExposition(Buffer.from(await bench.page())).flatMap((one) => one.samples);
    const rates = samples.filter(
      ({ name }) => name === 'newrelic_application_host_requests_per_minute',
    );
    const of = (label: string): readonly unknown[] =>
      rates.map((sample) => new Map(sample.labels).get(label));
    expect(new Set(of('app_name'))).toEqual(new Set(inherited));
    expect(of('host_name')).toEqual(of('app_name'));
    expect(new Set(of('toString'))).toEqual(new Set(['b']));
    expect(new Set(of('account'))).toEqual(new Set(['constructor']));
  });

  it('stands on the pages for people and programs', async () => {
    const status = statusSourceOf(await aDaemonOf(source));

    const page = statusPage(status, new URLSearchParams(), { telemetryPath: '/metrics' });
    const query = { state: 'any', scrapePool: 'constructor', applicationId: undefined } as const;
    const targets = [...targetsJson(status, query)].join('');
    expect(inherited.filter((name) => !page.includes(`>${name}<`))).toEqual([]);
    expect(inherited.filter((name) => !targets.includes(`"app_name":"${name}"`))).toEqual([]);
    expect(status.effectiveConfig()).toContain('hasOwnProperty: c');
  });

  it('changes nothing as a further member of each object of an answer', async () => {
    const usual = await aDaemonOf(source);
    const bench = await aDaemonOf(source, (raw) => ({
      ...raw,
      send: async (...request) => {
        const answer = await raw.send(...request);
        const body = JSON.stringify(withInherited(JSON.parse(answer.body)));
        return { ...answer, body };
      },
    }));

    const page = await bench.page();
    expect(page).toBe(await usual.page());
    expect(page).toContain('newrelic_application_host_requests_per_minute');
  });
});

/** An answer for the window that was asked for, with one row of two facets, of this name and `kind`. */
function answerFor(body: string, name: string, member: string): ReturnType<typeof answered> {
  const [, begin = 0, end = 0] = /SINCE (\d+) UNTIL (\d+)/u.exec(body) ?? [];
  const facets = [name, 'kind'];
  const row = Object.fromEntries([
    ['facet', ['toString', 'constructor']],
    [name, 'toString'],
    ['kind', 'constructor'],
    [member, 5],
  ]);
  const metadata = { facets, timeWindow: { begin: Number(begin), end: Number(end) } };
  const nrql = { results: [row], totalResult: Object.fromEntries([[member, 5]]), metadata };
  return answered({ data: { actor: { account: { nrql } } } });
}

describe.each(inherited)('the name %s', (name) => {
  it('is a tag like any other: a label, empty where there is no such tag', async () => {
    const applications = [
      { id: 101, name: 'shop', kind: 'web' as const, tags: Object.fromEntries([[name, 'red']]) },
      { id: 102, name: 'cart', kind: 'web' as const },
    ];
    const bench = await queriesStarted(
      { apps: `apps: [{ match: ., tags: [${name}] }]` },
      { fleet: { traffic: 'flat', applications } },
    );
    const [shop, cart] = await linesOf(bench, /^newrelic_application_info/u);

    expect(shop).toMatch(/,[a-z_]+="red"\} 1$/u);
    expect(cart).toMatch(/,[a-z_]+=""\} 1$/u);
  });

  it('is what a query groups by, as is any other', async () => {
    const member = name === 'valueOf' ? 'constructor' : 'valueOf';
    const nrql = `SELECT count(*) AS ${member} FROM Transaction FACET ${name}, kind LIMIT 5`;
    const queries = `  - { as: constructor, nrql: "${nrql}", constant_labels: { toString: b } }`;
    const bench = await queriesStarted(
      { queries },
      faulty({
        answer: (request) => ofQueries(answerFor(request.body ?? '', name, member))(request),
      }),
    );
    await bench.platform.clock.advance(2 * minuteMs);

    expect(bench.daemon.status()[0]?.queries?.[0]?.failure).toBeUndefined();
    const lines = await linesOf(bench, /^constructor\{/u);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/="toString".*kind="constructor".*toString="b".* 5$/u);
    expect(await linesOf(bench, /query="constructor"\} 1$/u)).toHaveLength(2);
  });
});
