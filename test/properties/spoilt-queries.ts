import fc from 'fast-check';
import { expect } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { answering } from '../newrelic/nerdgraph/a-nerdgraph-vendor.ts';
import { anError, failedNrql } from '../newrelic/nerdgraph/answers.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

/** Some applications of an account fail every query that names them, for some time. */
export interface Trouble {
  readonly count: number;
  /** Which of them, by their places: at most half of all. */
  readonly bad: ReadonlySet<number>;
  readonly requestsPerMinute: number;
  readonly operation: 'application_metrics' | 'host_metrics';
  readonly errorClass: string;
  /** When in a minute it begins. */
  readonly second: number;
  readonly minutes: number;
}

type Places = Pick<Trouble, 'count' | 'bad'>;

/** A block of neighbours, each n-th, or any. */
const somePlaces: fc.Arbitrary<Places> = fc
  .tuple(fc.oneof(fc.integer({ min: 2, max: 400 }), fc.constant(400)), fc.nat(400), fc.nat(400))
  .chain(([count, some, first]) => {
    const most = Math.floor(count / 2);
    const length = 1 + (some % most);
    const all = Array.from({ length: count }, (_, at) => at);
    const step = Math.max(2, Math.floor(count / length));
    return fc
      .oneof(
        fc.constant(all.slice(0, length).map((at) => (at + first) % count)),
        fc.constant(all.filter((at) => (at + first) % step === 0).slice(0, most)),
        fc.shuffledSubarray(all, { minLength: length, maxLength: length }),
        fc.shuffledSubarray(all, { minLength: most, maxLength: most }),
      )
      .map((bad) => ({ count, bad: new Set(bad.length > 0 ? bad : [0]) }));
  });

export const someTrouble: fc.Arbitrary<Trouble> = fc
  .record({
    places: somePlaces,
    requestsPerMinute: fc.constantFrom(800, 60),
    operation: fc.constantFrom('application_metrics' as const, 'host_metrics' as const),
    errorClass: fc.constantFrom('INTERNAL_SERVER_ERROR', 'TIMEOUT', 'INVALID_INPUT'),
    second: fc.integer({ min: 1, max: 60 }),
    minutes: fc.integer({ min: 1, max: 40 }),
  })
  .map(({ places, ...rest }) => ({ ...places, ...rest }));

/** Every second application spoils the queries about hosts, for fourteen minutes. */
export function everySecondOf(count: number, requestsPerMinute: number): Trouble {
  const bad = new Set(Array.from({ length: count / 2 }, (_, at) => 2 * at));
  const how = { operation: 'host_metrics', errorClass: 'TIMEOUT' } as const;
  return { count, bad, requestsPerMinute, second: 20, minutes: 14, ...how };
}

/** Lists and undivided queries take no more, in calls a minute. */
const usualPerMinute = 6;

/** Ten intervals; or some to find out that applications matter, and then one call for each of them. */
function boundMinutes({ count, requestsPerMinute }: Trouble): number {
  return Math.max(10, 4 + Math.ceil(count / (requestsPerMinute - usualPerMinute)));
}

const firstId = 1001;

/** Answers everything but queries that name a bad application while it lasts, and notes the ids of each query. */
function spoilt({ operation, bad, errorClass }: Trouble) {
  const now = { isSpoilt: false, sent: [] as (readonly string[])[] };
  const isBad = (id: string): boolean => bad.has(Number(id) - firstId);
  const vendor = answering(({ ids, subject }) =>
    ids.map((id) => ({ id, live: 1, cells: [7, 0], ...(subject === 'hosts' && { host: 'a' }) })),
  );
  const wire = (raw: RawTransport): RawTransport => ({
    ...raw,
    send: async (request, headers, signal) => {
      if (!request.operation.endsWith('_metrics')) return raw.send(request, headers, signal);
      const ids = /appId IN \(([\d,]+)\)/u.exec(request.body ?? '')?.[1]?.split(',') ?? [];
      now.sent.push(ids);
      const isFailing = now.isSpoilt && request.operation === operation && ids.some(isBad);
      return isFailing ? failedNrql(anError(errorClass)) : vendor(request, signal);
    },
  });
  return { now, isBad, wire };
}

/** Expects that all others have values within the bound, and that all is asked as before ten minutes after the end. */
export async function expectOthersUnharmed(trouble: Trouble): Promise<void> {
  const { count, requestsPerMinute, operation } = trouble;
  const isOfHosts = operation === 'host_metrics';
  const text = `
accounts: [{ name: one, source: nerdgraph, account_id: 1, api_key_env: KEY_A, requests_per_minute: ${requestsPerMinute} }]
apps: [{ match: ., hosts: ${isOfHosts} }]`;
  const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  const { now, isBad, wire } = spoilt(trouble);
  const applications = Array.from({ length: count }, (_, at) => {
    return { id: firstId + at, name: `app-${at}`, kind: 'web', hosts: 1 } as const;
  });
  const { daemon, platform } = await aRunningDaemon(config, {
    fleet: { applications },
    graphql: { accountId: 1 },
    wire,
  });
  const { clock } = platform;
  const minute = async (): Promise<number> => {
    now.sent = [];
    await clock.advance(minuteMs);
    return now.sent.length;
  };
  await clock.advance(3 * minuteMs + trouble.second * 1000);
  const usual = await minute();

  now.isSpoilt = true;
  const bound = boundMinutes(trouble);
  for (let at = 1; at <= trouble.minutes; at += 1) {
    expect(await minute()).toBeLessThanOrEqual(requestsPerMinute);
    const others = daemon.applications().filter(({ id }) => !isBad(id));
    const agesMs = others.map(({ lastSuccessMs = 0 }) => clock.wallMs() - lastSuccessMs);
    // A poll may take an interval, and begin one after the poll before.
    if (at > bound) expect(Math.max(...agesMs), `minute ${at}`).toBeLessThanOrEqual(3.5 * minuteMs);
  }

  now.isSpoilt = false;
  // What was divided needs one call each, and three minutes of answers.
  await clock.advance((bound > 10 ? bound + 3 : 10) * minuteMs);
  expect(await minute()).toBe(usual);
  expect(now.sent.flat()).toHaveLength((isOfHosts ? 2 : 1) * count);
  expect(daemon.applications().filter(({ state }) => state !== 'up')).toEqual([]);
}
