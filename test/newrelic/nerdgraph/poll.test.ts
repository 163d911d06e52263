import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { Polled, Question } from '../../../src/model/source.ts';
import { minuteMs } from '../../../src/model/time.ts';
import type { Transport } from '../../../src/newrelic/calls/transport.ts';
import { aQuery, aQuestion, aSelected } from '../../support/builders.ts';
import { aJob } from '../../support/calls-at-once.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aNerdGraphSource, costOf, polled, type SourceUnderTest } from './a-nerdgraph-source.ts';
import { type AskedNrql, answering, apart, ofHost, row } from './a-nerdgraph-vendor.ts';
import { nrqlAnswer, nrqlPart } from './answers.ts';
import { hostsNamed } from './some-fleet.ts';

const wallMs = Date.UTC(2026, 8, 1, 10, 0, 30);
const toMs = Date.UTC(2026, 8, 1, 9, 57);
const broken = new ApiError('server', 'it broke');
const refused = new ApiError('auth', 'refused', { status: 401 });

type Entry = Parameters<typeof aSelected>[1];

function apps(count: number, entry: Entry = {}): readonly SelectedApplication[] {
  return Array.from({ length: count }, (_, at) =>
    aSelected({ id: `${at + 1}`, hostIds: ['a'] }, entry),
  );
}

async function outcomesIn(
  { source }: Pick<SourceUnderTest, 'source'>,
  group: readonly Question[] | readonly SelectedApplication[],
  signal = neverAborted,
): Promise<readonly Polled['outcome'][]> {
  const questions = group.map((one) => ('kind' in one ? one : aQuestion(one)));
  const outcomes: Polled['outcome'][] = [];
  const options = { job: aJob, signal };
  for await (const { outcome } of source.poll(() => questions, options)) outcomes.push(outcome);
  return outcomes;
}

/** A source on a clock of its own, whose calls go one after the other. */
function oneByOne(send: Transport, onPermit?: () => void): SourceUnderTest {
  const clock = createFakeClock(wallMs);
  return aNerdGraphSource(send, clock, { concurrency: 1, ...(onPermit && { onPermit }) });
}

describe('a poll', () => {
  it('makes one query about all applications and one about their hosts', async () => {
    const asked: AskedNrql[] = [];
    const vendor = answering((one) => {
      asked.push(one);
      return [];
    });
    const { calls } = await polled(aNerdGraphSource(vendor), apps(3));

    const ids = ['1', '2', '3'];
    expect(asked).toMatchObject([
      { subject: 'applications', ids },
      { subject: 'hosts', ids },
    ]);
    expect(calls).toBe(2);
  });

  it('asks about the group as it is when its first call is taken', async () => {
    const group: Question[] = [];
    const asked: string[] = [];
    const vendor = answering(({ ids }) => {
      asked.push(ids.join(' '));
      return broken;
    });
    const { source } = oneByOne(vendor, () => {
      if (group.length === 0) group.push(...apps(2).map((one) => aQuestion(one)));
    });
    const found: Polled[] = [];
    const options = { job: aJob, signal: neverAborted };
    for await (const one of source.poll(() => group, options)) found.push(one);

    expect([found.length, asked]).toEqual([2, ['1 2', '1 2']]);
  });

  it.each([
    [{ kind: 'range', lengthMs: minuteMs }, 1],
    [{ kind: 'vendor_default' }, 30],
  ] as const)(
    'of the window %j asks about minutes that end before its first call',
    async (...asking) => {
      const [window, minutes] = asking;
      const windows: unknown[] = [];
      const vendor = answering((one) => {
        windows.push(one.window);
        bench.clock.jumpWall(10 * minuteMs);
        return [];
      });
      const bench: SourceUnderTest = oneByOne(vendor);
      await outcomesIn(bench, apps(1, { poll: { window } }));

      const wanted = { fromMs: toMs - minutes * minuteMs, toMs };
      expect(windows).toEqual([wanted, wanted]);
    },
  );

  it('tells of an application that has calls, but no heartbeat', async () => {
    const rows = [row(5), { ...row(5, 0, 5), id: '2' }];
    const bench = aNerdGraphSource(answering(apart(rows)));
    await polled(bench, apps(3));

    expect(bench.unexpected).toEqual(['no_heartbeat']);
    expect(bench.logger.lines).toMatchObject([{ fields: { kind: 'no_heartbeat', app_id: '1' } }]);
  });

  it('fails what is about another time than the first answer', async () => {
    const vendor = answering(apart([row(10)], [ofHost('a', 0)]), ({ subject, window }) =>
      subject === 'hosts' ? { ...window, fromMs: window.fromMs - minuteMs } : window,
    );
    const { outcomes } = await polled(aNerdGraphSource(vendor), apps(1));

    expect(outcomes.get('1')).toMatchObject({
      failed: new Set(['a']),
      error: { reason: 'schema' },
      reading: { application: [2, undefined], hosts: new Map() },
    });
  });

  it.each([
    ['that fail because nothing is answered: more of them would be a storm', '', 3 + 2],
    ['beside one that is answered', '5', 1 + 4],
  ])('makes smaller ones of queries %s', async (_, answered, calls) => {
    // Three queries about the hosts of two applications each.
    const large = Array.from({ length: 6 }, (_none, at) =>
      aSelected({ id: `${at + 1}`, hostIds: hostsNamed(1000) }, { application: false }),
    );
    const bench = aNerdGraphSource(answering(({ ids }) => (ids.includes(answered) ? [] : broken)));
    const before = await polled(bench, large);

    expect([before.calls, (await polled(bench, large)).calls]).toEqual([3, calls]);
  });

  it('ends with a refused key: what was not asked for yet is refused as well', async () => {
    const bench = oneByOne(answering(() => refused));
    const failure = { error: refused, unauthorized: true, failed: new Set(['application', 'a']) };

    expect(await outcomesIn(bench, apps(2))).toMatchObject([failure, failure]);
    expect(bench.requests).toHaveLength(1);
  });
});

describe('an abort of a poll', () => {
  it('leaves no outcomes, and divides nothing because of what was cut off', async () => {
    const stop = new AbortController();
    const bench = oneByOne(async () => {
      stop.abort(new Error('nobody wants it'));
      throw broken;
    });

    expect(await outcomesIn(bench, apps(8), stop.signal)).toEqual([]);
    expect([costOf(bench.source, apps(8)), bench.source.costChanges()]).toEqual([2, 0]);
  });
});

describe('a poll of a query', () => {
  const group = [{ kind: 'query', query: aQuery }] as const;
  const metadata = { facets: ['appName'], timeWindow: { begin: toMs - 5 * minuteMs, end: toMs } };
  const part = nrqlPart([{ facet: 'shop', calls: 7 }], { metadata });
  const answer = nrqlAnswer(part);

  it('is one call, for a window that ends its delay ago', async () => {
    const bench = oneByOne(async () => answer);
    const [outcome] = await outcomesIn(bench, group);

    expect(outcome).toMatchObject({ reading: { series: [{ value: 7 }] }, error: undefined });
    expect(bench.requests).toHaveLength(1);
    expect(bench.requests[0]?.body).toContain(`SINCE ${toMs - 5 * minuteMs} UNTIL ${toMs}`);
  });

  it('asks again if its answer shows that the window was cut by a wrong clock', async () => {
    const date = new Date(wallMs + 3 * minuteMs).toUTCString();
    const bench = oneByOne(async () => ({ ...answer, headers: { date } }));
    await outcomesIn(bench, group);
    await outcomesIn(bench, group);

    const ends = bench.requests.map(({ body = '' }) => Number(/UNTIL (\d+)/u.exec(body)?.[1]));
    expect(ends).toEqual([0, 3, 3].map((minutes) => toMs + minutes * minuteMs));
  });

  it('asks three times at most, whatever clock the answers tell of', async () => {
    const bench = oneByOne(async () => {
      const behindMs = bench.requests.length % 2 === 0 ? 0 : 3 * minuteMs;
      return { ...answer, headers: { date: new Date(wallMs - behindMs).toUTCString() } };
    });
    await outcomesIn(bench, group);

    expect(bench.requests).toHaveLength(3);
  });

  it('has failed for the reason that it has', async () => {
    const bench = oneByOne(async () => {
      throw refused;
    });
    const [outcome] = await outcomesIn(bench, group);

    expect(outcome).toMatchObject({ reading: undefined, unauthorized: true, error: refused });
  });
});
