import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { ApplicationSpec } from '../../../src/simulator/fleet-options.ts';
import type { Intercept, SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { manyApplications } from '../../faults/fault-bench.ts';
import { type Printed, printedBy } from '../survey/ask-bench.ts';

export const account: string =
  '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567 }';
export const withoutId: string = account.replace(', account_id: 1234567', '');

/** Two hosts of one name, one of its own. */
export const shop: ApplicationSpec = {
  id: 11,
  name: 'shop',
  kind: 'web',
  webRpm: 600,
  hosts: [
    { id: 1, name: 'web-1' },
    { id: 2, name: 'web-1' },
    { id: 3, name: 'web-2' },
  ],
};
export const idle: ApplicationSpec = { ...shop, webRpm: 0, hosts: 6 };
export const a: ApplicationSpec = { id: 1, name: 'a', kind: 'web', webRpm: 60, hosts: 1 };
const abc = [a, { ...a, id: 2, name: 'b' }, { ...a, id: 3, name: 'c' }];
const busy: ApplicationSpec = { ...a, id: 12, name: 'busy' };
export const ten: ReturnType<typeof manyApplications> = manyApplications(10, 2);

export interface Circumstances extends SimulatorOptions {
  /** With traffic that is always the same. */
  readonly has?: readonly ApplicationSpec[];
  readonly of?: string;
  readonly poll?: string;
  readonly apps?: string;
  readonly rules?: readonly FaultRule[];
  readonly args?: readonly string[];
}

export async function compared(circumstances: Circumstances = {}): Promise<Printed> {
  const { of = account, poll = '{}', apps = '[{ match: "." }]', rules, ...others } = circumstances;
  const { has = [shop], args = ['--all', 'c.yaml'], ...options } = others;
  const files = { 'c.yaml': `accounts: [${of}]\npoll: ${poll}\napps: ${apps}` };
  const fleet = { traffic: 'flat', applications: has } as const;
  return printedBy({ fleet, ...options }, ['compare', ...args], files, undefined, rules);
}

/** Changes the answers to some paths. */
export function answering(paths: RegExp, change: (body: string) => string): Intercept {
  return ({ path }) =>
    paths.test(path) ? (answer) => ({ ...answer, body: change(answer.body) }) : 'pass';
}

interface Listed {
  readonly id: number;
  readonly name: string;
  readonly reporting: boolean;
}

/** REST lists other applications than NerdGraph. */
export function listing(change: (application: Listed) => Listed): Intercept {
  return answering(/^\/v2\/applications\.json$/u, (body) => {
    const { applications } = JSON.parse(body) as { applications: readonly Listed[] };
    return JSON.stringify({ applications: applications.map(change) });
  });
}

/** The answers of NRQL queries that found nothing. */
export function withoutRows(body: string): string {
  return JSON.stringify(JSON.parse(body), (key, value: unknown) => {
    if (key === 'results' && Array.isArray(value)) return [];
    if (!/^(?:other|total)Result$/u.test(key) || value === null) return value;
    return Object.fromEntries(Object.keys(value as object).map((column) => [column, 0]));
  });
}

export const failing = (when: FaultRule['when'], status = 500): readonly FaultRule[] => [
  { when, fault: { kind: 'status', status } },
];
const refusing = (when: FaultRule['when'], errorClass: string): readonly FaultRule[] => [
  { when, fault: { kind: 'graphql_error', errorClass, message: 'oh' } },
];

type Row = readonly [what: string, how: Circumstances, ...says: (string | RegExp)[]];

export const safe: readonly Row[] = [
  ['raw values of a minute', { poll: '{ raw: true, window: 1m }' }, 'Switching is safe: 3 equal.'],
  ['applications alone', { apps: '[{ match: ".", hosts: false }]' }, '  values        1 equal\n'],
  [
    'hosts alone, in the order of their names',
    { apps: '[{ match: ".", application: false }]' },
    /web-1 \(2 ids\) .*\n.* web-2 /u,
    '  values        2 equal\n',
  ],
  [
    'each type of transaction that the entry has',
    { has: [{ ...shop, kind: 'both', otherRpm: 60 }] },
    / - +requests_per_minute web .*\n.* - +requests_per_minute other /u,
  ],
  [
    'averages, but not of two hosts with one name: they cannot be added',
    { poll: '{ metrics: [response_time] }' },
    / - +response_time\w* web .*\n.* web-2 +response_time\w* web .*\n\n/u,
  ],
  [
    'hosts with any names',
    {
      has: [
        {
          ...shop,
          hosts: [
            { id: 1, name: 'application' },
            { id: 2, name: 'hosts' },
          ],
        },
      ],
    },
    'Switching is safe: 3 equal.',
  ],
  ['idle values beside busy ones', { has: [busy, idle] }, 'safe: 2 equal, 7 idle.'],
  ['long queries in parts', { has: ten, graphql: { maxNrqlCharacters: 600 } }, 'safe: 30 equal.'],
  [
    'what either list calls reporting',
    { has: [a], intercept: listing((one) => ({ ...one, reporting: false })) },
    '  values        2 equal\n',
  ],
  [
    'silent applications of one list',
    {
      has: [shop, { id: 7, name: 'old', kind: 'not_reporting' }],
      intercept: listing((one) => (one.id === 7 ? { ...one, id: 9 } : one)),
    },
    '  not reporting  9 old, only REST\n  not reporting  7 old, only NerdGraph\n',
  ],
  [
    'no more calls than REST allows, whatever the budget for NerdGraph is',
    {
      has: [{ ...shop, hosts: 1000 }],
      of: account.replace(' }', ', source: nerdgraph, requests_per_minute: 3000 }'),
    },
    // With the list, the application and five pages of names. A refused call would be sent again.
    '  calls         REST 1,007, NerdGraph ',
  ],
  [
    'no more at once than NerdGraph allows, whatever the concurrency for REST is',
    {
      has: [1, 2, 3, 4, 5, 6, 7].map((id) => ({ ...a, id, name: `app ${id}` })),
      graphql: { concurrency: 5 },
      latencyMs: 50,
      of: account.replace(' }', ', concurrency: 20 }'),
      apps: `[${[1, 2, 3, 4, 5, 6, 7].map((id) => `{ id: ${id}, window: ${id}m }`).join()}]`,
    },
    / calls .*, NerdGraph 15\n/u,
  ],
  ['a key with few calls left', { has: ten, quotaPerMinute: 20 }, 'safe: 30 equal.'],
  ['a slow account', { has: ten, latencyMs: 4000 }, 'safe: 30 equal.'],
];

export const unsafe: readonly Row[] = [
  [
    'values that differ',
    { intercept: answering(/hosts\/3\/metrics/u, (body) => body.replaceAll('200', '400')) },
    / web-2 .* 400 +200 +-200 \(50 %\) +differs$/mu,
    'Do not switch yet: look at 1 differs.',
  ],
  [
    'values that NerdGraph lacks',
    { intercept: answering(/graphql/u, withoutRows) },
    / web-2 .* 200 +- +- +only REST$/mu,
    'Do not switch yet: look at 3 only REST.',
  ],
  [
    'hosts that REST does not know',
    { rules: failing({ endpoints: ['host_metrics'] }, 404) },
    / web-2 .* - +200 +- +only NerdGraph$/mu,
    'look at 2 only NerdGraph.',
  ],
  [
    'other names of hosts',
    { intercept: answering(/hosts\.json/u, (body) => body.replace('"web-2"', '"WEB-2"')) },
    / WEB-2 .* only REST\n.* web-2 .* only NerdGraph\n/u,
  ],
  [
    'applications that one list lacks, and names that differ',
    {
      has: abc,
      intercept: listing(({ id, ...one }) =>
        id === 1 ? { ...one, id, name: 'A\n' } : { ...one, id: 3 * id },
      ),
    },
    '  only REST       6 b\n  only REST       9 c\n',
    '  only NerdGraph  2 b\n  only NerdGraph  3 c\n',
    String.raw`  other name      1: REST A\u{a}, NerdGraph a`,
    'Do not switch yet: look at 2 only REST, 2 only NerdGraph.',
  ],
];

export const unclear: readonly Row[] = [
  [
    'one of ten applications that NerdGraph cannot answer for',
    {
      has: ten,
      rules: refusing({ operation: 'nrql', applicationId: '1003' }, 'INTERNAL_SERVER_ERROR'),
    },
    '  values        27 equal, 4 not read\n',
    /^main +application 3 +- .* not read: NerdGraph: .* of 1 application: .*: oh"$/mu,
    / application 3 +all hosts .* not read: NerdGraph: /u,
  ],
  [
    'a host that REST cannot answer for',
    { rules: failing({ hostId: '3' }) },
    / web-2 .* not read: REST: .*status 500/u,
    'judged: look at 2 not read.',
  ],
  [
    'what REST cannot answer for, and hosts without names',
    { rules: failing({ endpoints: ['application_metrics', 'hosts'] }) },
    / - +requests_per_minute web .* not read: REST: application_metrics of /u,
    / all hosts .* not read: REST: the names of its hosts are not known\n/u,
  ],
  [
    'a NerdGraph that refuses, without asking it again for hosts',
    { rules: refusing({ operation: 'nrql' }, 'ACCESS_DENIED') },
    // The list, the values of the application and those of its hosts.
    / {2}hosts +REST 2, NerdGraph 0\n {2}values .*\n {2}calls +REST 6, NerdGraph 3\n/u,
    'look at 4 not read.',
  ],
  [
    'an application that one list has and could not read',
    {
      has: abc,
      intercept: answering(/graphql/u, (body) => body.replace('"name":"b"', '"name":null')),
    },
    / {2}applications .*\n {2}not found yet +2 b\n {2}hosts/u,
    'judged: look at 1 not found yet.',
  ],
  [
    'idle applications of which NerdGraph says nothing',
    { has: [idle], intercept: answering(/graphql/u, withoutRows) },
    '  hosts         REST 6, NerdGraph 0\n  few hosts     11 shop: REST 6, NerdGraph 0\n',
    '  not busy      no application has a value above 0: run compare again while there is traffic\n',
    'Switching cannot be judged: look at 1 few hosts, 2 not busy.',
  ],
  [
    'hosts without traffic',
    { has: [busy, idle], apps: '[{ id: 11, application: false }, { id: 12, hosts: false }]' },
    '  not busy      no host has ',
    'look at 1 not busy.',
  ],
  [
    'entries that match nothing',
    { apps: '[{ match: nothing }]' },
    '  not compared  no application that reports is in both lists\n',
    'Switching cannot be judged: look at 1 not compared.',
  ],
  [
    'silent applications',
    { has: [{ ...a, kind: 'not_reporting' }] },
    / {2}values +none\n {2}not compared +no application that reports is in both lists\n {2}calls [^]* look at 1 not compared\.\n$/u,
  ],
];
