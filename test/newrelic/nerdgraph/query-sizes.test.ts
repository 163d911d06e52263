import { describe, expect, it } from 'vitest';
import { ApiError, failureReasons } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { minuteMs } from '../../../src/model/time.ts';
import type { Transport } from '../../../src/newrelic/calls/transport.ts';
import { pollUntilSettled } from '../../../src/poll/account-poller.ts';
import { aQuestion, aSelected } from '../../support/builders.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eachAfter, slow } from '../../support/slow.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aNerdGraphSource, pollGroups } from './a-nerdgraph-source.ts';
import { type AskedNrql, answering } from './a-nerdgraph-vendor.ts';
import { pageAnswer } from './answers.ts';
import { hostsNamed } from './some-fleet.ts';

const broken = new ApiError('server', 'it broke');
const tooLarge = new ApiError('too_large', 'it took too long');

interface Poll {
  readonly outcomes: ReadonlyMap<string, PollOutcome>;
  /** Those that did not get everything. */
  readonly failing: readonly string[];
  /** How many applications are in each query. */
  readonly sizes: readonly number[];
}

interface Fleet {
  readonly count?: number;
  /** Of each application; default: nothing is read of them. */
  readonly hosts?: number;
}

/** Applications `1` to `count`, which are polled once a minute. @param errorOf why a query is not answered */
function aBench(
  errorOf: (asked: AskedNrql) => ApiError | undefined,
  { count = 200, hosts = 0 }: Fleet = {},
) {
  let asked: AskedNrql[] = [];
  const names = hostsNamed(Math.max(1, hosts));
  const vendor = answering((one) => {
    asked.push(one);
    if (one.subject === 'applications') return errorOf(one) ?? [];
    const own = names.filter((name) => one.asksFor(name));
    return errorOf(one) ?? one.ids.flatMap((id) => own.map((host) => ({ id, host, cells: [7] })));
  });
  let spareNow: number | undefined;
  const send: Transport = async (request, signal) =>
    request.body?.includes('entitySearch') === true ? pageAnswer([]) : vendor(request, signal);
  const bench = aNerdGraphSource(send, createFakeClock(), {
    spare: () => spareNow ?? Number.POSITIVE_INFINITY,
  });
  const questions = Array.from({ length: count }, (_, at) =>
    aQuestion(aSelected({ id: `${at + 1}`, hostIds: names }, { hosts: hosts > 0 })),
  );
  /** How many applications are in each group, while so many queries a minute can be spared. */
  const groupSizes = (spare: number): readonly number[] => {
    spareNow = spare;
    return bench.source.groups(questions, []).map((group) => group.length);
  };
  const poll = async (spare?: number): Promise<Poll> => {
    asked = [];
    const { source, clock } = bench;
    const groups = source.groups(questions, []);
    spareNow = spare;
    const outcomes = await pollGroups(source, groups, { clock });
    await clock.advance(minuteMs);
    return {
      outcomes,
      failing: [...outcomes].flatMap(([id, { failed }]) => (failed.size > 0 ? id : [])),
      sizes: asked.map(({ ids }) => ids.length),
    };
  };
  const polls = async (length: number, spare?: number): Promise<readonly Poll[]> => {
    const all: Poll[] = [];
    while (all.length < length) all.push(await poll(spare));
    return all;
  };
  return { ...bench, poll, polls, groupSizes };
}

function namesAny(...bad: readonly string[]): (asked: AskedNrql) => ApiError | undefined {
  return ({ ids }) => (ids.some((id) => bad.includes(id)) ? broken : undefined);
}

const all200 = Array.from({ length: 200 }, (_, at) => `${at + 1}`);
/** Every third one, without the first. */
const third = Array.from({ length: 66 }, (_, at) => `${3 * at + 3}`);

describe('applications whose queries are never answered', () => {
  const hanging = (count: number) => {
    const hung = new ApiError('timeout', 'no answer');
    return ({ ids }: AskedNrql) => (ids.some((id) => Number(id) <= count) ? hung : undefined);
  };

  it.each([
    { what: 'one, with hosts', count: 1, hosts: 2, spare: 2, sizes: [1, 199] },
    { what: '150, with hosts', count: 150, hosts: 1, spare: 2, sizes: [150, 50] },
    { what: 'one, where nothing can be spared', count: 1, hosts: 2, spare: 1, sizes: [200] },
  ])('are a group of their own: $what', async ({ count, hosts, spare, sizes }) => {
    const { polls, groupSizes } = aBench(hanging(count), { hosts });
    await polls(8);

    expect(groupSizes(spare)).toEqual(sizes);
  });

  it('are with the others again once they are answered', async () => {
    let count = 1;
    const { polls, groupSizes } = aBench((asked) => hanging(count)(asked));
    await polls(8);
    count = 0;
    await polls(1);

    expect(groupSizes(2)).toEqual([200]);
  });
});

describe('an application that spoils the queries of 199 others', () => {
  it.each(['1', '7', '64', '100', '143', '200'])(
    'is found alone by some thirty queries more, and then costs one: application %s',
    async (bad) => {
      const polls = await aBench(namesAny(bad)).polls(8);
      const calls = polls.map(({ sizes }) => sizes.length);

      expect(calls.slice(0, 2)).toEqual([1, 4]);
      expect(Math.max(...calls)).toBeLessThanOrEqual(1 + 16);
      expect(polls.slice(4).every(({ failing }) => failing.join(' ') === bad)).toBe(true);
      expect(polls.slice(-2).map(({ sizes }) => sizes.toSorted((a, b) => a - b))).toEqual([
        [1, 199],
        [1, 199],
      ]);
    },
  );

  it('is asked without retries: its polls are retries themselves', async () => {
    const { polls, requests } = aBench(namesAny('7'));
    await polls(8);

    const last = requests.slice(-2).map(({ body = '', mayRetry }) => {
      return [/IN \(7\)/u.test(body), mayRetry];
    });
    expect(last).toEqual(
      expect.arrayContaining([
        [true, false],
        [false, true],
      ]),
    );
  });

  it('stays apart although some of its polls are answered', async () => {
    let poll = 0;
    const bad = namesAny('7');
    const bench = aBench((one) => (poll % 3 === 2 ? undefined : bad(one)));
    const failing: number[] = [];
    for (; poll < 40; poll += 1) failing.push((await bench.poll()).failing.length);

    expect(Math.max(...failing.slice(6))).toBe(1);
  });

  it.each(failureReasons)('is looked for if it may be at fault: %s', async (reason) => {
    const error = new ApiError(reason, 'it failed');
    const { polls } = aBench(({ ids }) => (ids.includes('7') ? error : undefined));
    const mayBe = ['too_large', 'timeout', 'server', 'client', 'schema', 'not_json'];
    const [, second] = await polls(2);

    expect(second?.sizes.length).toBe(mayBe.includes(reason) ? 4 : 1);
  });

  it('is not looked for because a gateway failed: that says nothing about the query', async () => {
    const error = new ApiError('server', 'bad gateway', { status: 502 });
    const [, second] = await aBench(() => error).polls(2);

    expect(second?.sizes).toEqual([200]);
  });

  it('by those about its hosts spoils none about applications', async () => {
    const bad = namesAny('7');
    const fleet = { count: 20, hosts: 2 };
    const { polls } = aBench((one) => (one.subject === 'hosts' ? bad(one) : undefined), fleet);
    const all = await polls(6);

    expect(all.map(({ outcomes }) => outcomes.get('7')?.failed.has('application'))).not.toContain(
      true,
    );
    expect(all.at(-1)?.sizes.toSorted((a, b) => a - b)).toEqual([1, 19, 20]);
  });
});

describe('5.1 a third of the applications that spoil all queries', () => {
  it('takes the values of no other, and all are asked together again ten minutes after its end', async () => {
    let isSpoilt = true;
    const bad = namesAny(...third);
    const { polls } = aBench((one) => (isSpoilt ? bad(one) : undefined));
    const failing = (await polls(10)).slice(5).map((one) => one.failing);
    isSpoilt = false;
    const after = await polls(11);

    expect(failing.map((ids) => ids.join(' '))).toEqual([1, 2, 3, 4, 5].map(() => third.join(' ')));
    expect(after.flatMap((one) => one.failing)).toEqual([]);
    expect(after.at(-1)?.sizes).toEqual([200]);
  });

  it('takes no more queries than can be spared, in turns, and says of whom it waits', async () => {
    const { polls } = aBench(namesAny(...third));
    const all = await polls(30, 20);
    const alone = new Set<string>();
    for (const { outcomes } of all.slice(-4)) {
      for (const [id, { error }] of outcomes) if (error === broken) alone.add(id);
    }
    const [waiting] = [...(all.at(-1)?.outcomes.values() ?? [])].flatMap(({ error }) =>
      error === undefined || error === broken ? [] : error.message,
    );

    // One or two more for those that are well again.
    expect(Math.max(...all.map(({ sizes }) => sizes.length))).toBeLessThanOrEqual(1 + 20 + 1);
    expect(new Set(all.slice(15).map(({ failing }) => failing.join(' ')))).toEqual(
      new Set([third.join(' ')]),
    );
    expect(alone.size).toBe(third.length);
    expect(waiting).toContain('Raise requests_per_minute');
  });

  it(
    'is found out by trials of others in each poll, also where nearly all are bad',
    slow,
    async () => {
      const bad = all200.slice(0, 190);
      const { polls } = aBench(namesAny(...bad));

      expect((await polls(30)).at(-1)?.failing).toEqual(bad);
    },
  );

  it('is asked now and then if less than one query can be spared', async () => {
    const { polls } = aBench(namesAny(...third));
    const all = await polls(60, 0.5);
    const more = all.slice(2).map(({ sizes }) => sizes.filter((size) => size === 1).length);

    // And one that was well alone is tried with others.
    expect(Math.max(...more)).toBeLessThanOrEqual(2);
    expect(more.filter((one) => one > 0).length).toBeGreaterThan(20);
    expect(more.filter((one) => one === 0).length).toBeGreaterThan(5);
  });
});

describe('while New Relic answers nothing', () => {
  it.each([1, 2, 20, 200])(
    'only a few queries more are sent about %i applications',
    async (count) => {
      let isDown = true;
      const { polls } = aBench(() => (isDown ? broken : undefined), { count });
      const down = await polls(30);
      isDown = false;
      const up = await polls(3);

      expect(Math.max(...down.map(({ sizes }) => sizes.length))).toBeLessThanOrEqual(1 + 3);
      expect([up[0]?.failing, up.at(-1)?.sizes]).toEqual([[], [count]]);
    },
  );

  it('what has stood alone before is not asked alone', async () => {
    let isDown = false;
    const bad = namesAny(...third);
    const { polls } = aBench((one) => (isDown ? broken : bad(one)));
    await polls(6);
    isDown = true;
    const [, ...down] = await polls(6);

    expect(Math.max(...down.map(({ sizes }) => sizes.length))).toBeLessThanOrEqual(1 + 3);
  });

  it('nothing is learnt from a refused key', async () => {
    const { polls } = aBench(() => new ApiError('auth', 'refused', { status: 401 }));
    const all = await polls(3);

    expect(all.map(({ sizes }) => sizes)).toEqual([[200], [200], [200]]);
  });
});

describe('queries that are too large', () => {
  eachAfter(1, [
    { most: 150, queries: 15 },
    { most: 20, queries: 15 },
    { most: 13, queries: 200 },
    { most: 1, queries: 200 },
  ])(
    'for more than $most applications are soon small enough, and fail once in six minutes',
    async ({ most, queries }) => {
      const { polls } = aBench(({ ids }) => (ids.length > most ? tooLarge : undefined));
      const all = (await polls(40)).slice(8);
      const failures = new Map<string, number>();
      for (const id of all.flatMap(({ failing }) => failing)) {
        failures.set(id, 1 + (failures.get(id) ?? 0));
      }

      expect(Math.max(...all.map(({ sizes }) => sizes.length))).toBeLessThanOrEqual(queries);
      expect(Math.max(...failures.values())).toBeLessThanOrEqual(all.length / 6 + 1);
    },
  );

  it.each([40, 20])(
    'for %i rows are asked for in parts of the hosts of one application',
    async (rows) => {
      const names = hostsNamed(60);
      const { polls } = aBench(
        ({ subject, ids, asksFor }) =>
          subject === 'hosts' && ids.length * names.filter(asksFor).length > rows
            ? tooLarge
            : undefined,
        { count: 3, hosts: 60 },
      );
      const all = (await polls(30)).slice(8);
      const failing = all.flatMap((one) => one.failing);

      expect(failing.length).toBeLessThanOrEqual((3 * all.length) / 6 + 3);
      expect(Math.max(...all.map(({ sizes }) => sizes.length))).toBeLessThanOrEqual(1 + 3 * 64);
    },
  );

  it.each([
    ['applications', tooLarge],
    ['hosts', broken],
  ] as const)(
    'are not divided further if that cannot help: of one application, about %s',
    async (subject, error) => {
      const { polls } = aBench(
        (one) => (one.subject === subject && one.ids.includes('1') ? error : undefined),
        { count: 3, hosts: 60 },
      );
      const all = await polls(8);

      expect(all.slice(3).map(({ sizes }) => sizes.length)).toEqual([3, 3, 3, 3, 3]);
    },
  );
});

describe('commands that poll once poll again until nothing more is to be found out', () => {
  it.each<[string, (asked: AskedNrql) => ApiError | undefined, number, readonly string[]]>([
    ['nothing fails', () => undefined, 1, []],
    ['one application spoils the queries', namesAny('7'), 5, ['7']],
    ['a third of them do', namesAny(...third), 5, third],
    ['a query may be about one only', ({ ids }) => (ids.length > 1 ? tooLarge : undefined), 7, []],
    ['New Relic answers nothing', () => broken, 2, all200],
  ])('%s', async (_, errorOf, polls, failing) => {
    const { source, poll } = aBench(errorOf);
    let made = 0;
    const last = await pollUntilSettled(source, async () => {
      made += 1;
      return poll();
    });

    expect([made, last.failing]).toEqual([polls, failing]);
  });
});

it('an application that was gone for a while is asked with the others', async () => {
  const { poll, polls, source } = aBench(namesAny('7'), { count: 20 });
  const before = (await polls(6)).at(-1);
  await source.discover({ selectors: [] }, [], neverAborted);

  expect([before?.sizes.length, (await poll()).sizes.length]).toEqual([2, 1]);
});
