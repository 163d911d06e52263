import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { Config, Query } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aGauge, anAccount, anEntry, aQuery } from '../support/builders.ts';

export const keys = ['first-key-4711', 'second-key-815', 'third-key-2323'] as const;

/** One query as the configuration has it. */
export interface QuerySetup {
  /** Of its name. */
  readonly number: number;
  /** Of what it is FROM: of the last there are no rows. */
  readonly event: number;
  readonly windowMinutes: number;
  readonly delayMinutes: number;
  readonly intervalMs: number;
  readonly maxSeries: number;
  readonly staleAfterMs: number;
  readonly label: string;
  readonly help: string;
}

/** The configuration: one account. */
export interface Setup {
  /** Which applications it wants, by their names. */
  readonly wants: keyof typeof patterns;
  readonly hosts: boolean;
  readonly label: string;
  readonly requestsPerMinute: number;
  readonly queries: readonly QuerySetup[];
}

/** The first matches the names of queries too. */
const patterns: Readonly<Record<'all' | 'even' | 'none', RegExp | undefined>> = {
  all: /./u,
  even: /[02468]$/u,
  none: undefined,
};

export const emptyEvent: number = 4;
/** Of these a vendor can tell which one was asked for, however long a call has waited. */
export const delays: readonly number[] = [1, 12, 30];

const querySetups: fc.Arbitrary<QuerySetup> = fc.record({
  number: fc.integer({ min: 0, max: 19 }),
  event: fc.integer({ min: 0, max: emptyEvent }),
  windowMinutes: fc.constantFrom(5, 5, 30),
  delayMinutes: fc.constantFrom(...delays),
  intervalMs: fc.constantFrom(30_000, 60_000, 60_000, 5 * minuteMs),
  maxSeries: fc.constantFrom(1000, 1000, 1),
  staleAfterMs: fc.constantFrom(2 * minuteMs, 15 * minuteMs),
  label: fc.constantFrom('a', 'b'),
  help: fc.constantFrom('One.', 'Another.'),
});

export const setups: fc.Arbitrary<Setup> = fc.record({
  wants: fc.constantFrom('all', 'all', 'even', 'none'),
  hosts: fc.boolean(),
  label: fc.constantFrom('x', 'y'),
  requestsPerMinute: fc.constantFrom(60, 200, 200),
  queries: fc.uniqueArray(querySetups, {
    minLength: 1,
    maxLength: 20,
    selector: ({ number }) => number,
  }),
});

/** What becomes of some of the queries, and of the rest of the configuration. */
export interface Change {
  /** Which queries: every third, from this one on. */
  readonly of: number;
  readonly queries: Partial<QuerySetup> | 'out';
  readonly rest: Partial<Omit<Setup, 'queries'>>;
}

const queryChanges: readonly Change['queries'][] = [
  'out',
  { windowMinutes: 5 },
  { windowMinutes: 30 },
  { delayMinutes: 1 },
  { delayMinutes: 30 },
  { event: 0 },
  { event: 1 },
  { maxSeries: 1 },
  { label: 'c' },
  { help: 'More.' },
  { intervalMs: 30_000 },
  { staleAfterMs: 2 * minuteMs },
];

export const changes: fc.Arbitrary<Change> = fc.record({
  of: fc.constantFrom(0, 1, 2),
  queries: fc.constantFrom(...queryChanges),
  rest: fc.constantFrom<Change['rest'][]>(
    {},
    {},
    {},
    { wants: 'all' },
    { wants: 'even' },
    { wants: 'none' },
    { label: 'z' },
    { hosts: true },
    { requestsPerMinute: 200 },
  ),
});

export function changed(setup: Setup, { of, queries, rest }: Change): Setup {
  const next = setup.queries.flatMap((query) => {
    if (query.number % 3 !== of) return query;
    return queries === 'out' ? [] : { ...query, ...queries };
  });
  return { ...setup, ...rest, queries: next };
}

/** The ids of a fleet of so many. */
export function applicationsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${1001 + index}`);
}

export function applicationName(id: string): string {
  return `app-${id}`;
}

export function isWanted({ wants }: Setup, id: string): boolean {
  return patterns[wants]?.test(applicationName(id)) ?? false;
}

export function nameOf({ number }: Pick<QuerySetup, 'number'>): string {
  return `asked_${number}`;
}

function nrqlOf({ event }: Pick<QuerySetup, 'event'>): string {
  return `SELECT count(*) AS n FROM Event${event} FACET appName`;
}

/** What it asks, and which rows of the answer it wants. Of another question, nothing may be shown. */
export function questionOf({
  event,
  windowMinutes,
  delayMinutes,
}: Pick<QuerySetup, 'event' | 'windowMinutes' | 'delayMinutes'>): string {
  return `Event${event} ${windowMinutes} ${delayMinutes}`;
}

/** How much is counted in each row of an answer, in New Relic's order. */
export function truthOf(question: string): readonly (readonly [appName: string, count: number])[] {
  if (question.startsWith(`Event${emptyEvent} `)) return [];
  let hash = 17;
  for (const sign of question) hash = (Math.imul(hash, 31) + sign.charCodeAt(0)) >>> 0;
  const count = 1000 + (hash % 1_000_000);
  return [
    ['shop', count + 1],
    ['cart', count],
  ];
}

/** Whether the two ask alike for lists of applications. */
export function asksAlike(left: Setup, right: Setup): boolean {
  return left.wants === right.wants;
}

/** Whether what one has shown may go on being shown of the other. */
export function isKept(left: QuerySetup, right: QuerySetup | undefined): right is QuerySetup {
  const of = (query: QuerySetup): unknown => [questionOf(query), query.maxSeries];
  return right !== undefined && isDeepStrictEqual(of(left), of(right));
}

function queryOf(setup: QuerySetup): Query {
  const name = nameOf(setup);
  return {
    ...aQuery,
    account: 'one',
    name,
    written: nrqlOf(setup),
    nrql: nrqlOf(setup),
    gauges: [aGauge(name, { member: 'n', growsWithWindow: true })],
    help: setup.help,
    maxSeries: setup.maxSeries,
    labels: { constant: setup.label },
    poll: {
      intervalMs: setup.intervalMs,
      window: { kind: 'range', lengthMs: setup.windowMinutes * minuteMs },
      delayMs: setup.delayMinutes * minuteMs,
      staleAfterMs: setup.staleAfterMs,
    },
  };
}

export function configOf({ wants, hosts, label, requestsPerMinute, queries }: Setup): Config {
  const pattern = patterns[wants];
  const account = anAccount({
    name: 'one',
    source: { kind: 'nerdgraph', accountId: 1_234_567 },
    apiKey: { kind: 'file', path: '/key' },
    requestsPerMinute,
    concurrency: 5,
    timeoutMs: 20_000,
  });
  const apps =
    pattern === undefined
      ? []
      : [
          anEntry({
            account: 'one',
            selector: { kind: 'match', pattern },
            hosts,
            labels: { label },
          }),
        ];
  return { accounts: [account], apps, queries: queries.map(queryOf) };
}
