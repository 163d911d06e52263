import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BasicAuth, credentialsIn, networkOf, type Verdict } from '../../src/web/basic-auth.ts';
import { settle } from '../support/fake-clock.ts';

const tail = 'X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';
const hashes = { alice: `$2y$10$${tail}`, bob: `$2b$12$${tail}` };

interface Comparison {
  readonly hash: string;
  readonly password: string;
  readonly answer: (isMatch: boolean) => void;
  readonly fail: (error: Error) => void;
}

interface Bench {
  readonly comparisons: readonly Comparison[];
  readonly ask: (user: string, password: string, client?: string) => Promise<Verdict>;
  readonly change: (users: Readonly<Record<string, string>>) => void;
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Comparisons wait until the test answers them. */
function aBench(first: Readonly<Record<string, string>> = hashes): Bench {
  const comparisons: Comparison[] = [];
  let users = new Map(Object.entries(first));
  const auth = new BasicAuth(
    async (hash, password) =>
      new Promise((resolve, reject) => {
        comparisons.push({ hash, password, answer: resolve, fail: reject });
      }),
  );
  return {
    comparisons,
    ask: async (user, password, client = '10.0.0.1') =>
      auth.check(users, basic(user, password), client),
    change: (next) => {
      users = new Map(Object.entries(next));
    },
  };
}

/** Asks, and answers the comparison that it causes. */
async function answered(
  { ask, comparisons }: Bench,
  user: string,
  password: string,
  isMatch: boolean,
): Promise<Verdict> {
  const verdict = ask(user, password);
  comparisons.at(-1)?.answer(isMatch);
  return verdict;
}

describe('a request', () => {
  it('is allowed with the right password, which is compared once', async () => {
    const bench = aBench();
    const first = await answered(bench, 'alice', 'right', true);

    expect([first, await bench.ask('alice', 'right')]).toEqual(['allowed', 'allowed']);
    expect(bench.comparisons.map(({ hash, password }) => [hash, password])).toEqual([
      [hashes.alice, 'right'],
    ]);
  });

  it('is refused for an unknown user, whatever the comparison says', async () => {
    const bench = aBench();

    expect(await answered(bench, 'eve', 'right', true)).toBe('refused');
  });

  it.each([
    { who: 'another user', user: 'bob' },
    { who: 'another user with the same hash', user: 'carol' },
    { who: 'nobody', user: 'eve' },
  ])('is refused for $who with a password that was right for a user', async ({ user }) => {
    const bench = aBench({ ...hashes, carol: hashes.alice });
    const right = await answered(bench, 'alice', 'right', true);
    const other = await answered(bench, user, 'right', false);

    expect([right, other, await bench.ask(user, 'right')]).toEqual([
      'allowed',
      'refused',
      'refused',
    ]);
    expect(bench.comparisons).toHaveLength(2);
  });

  it.each([
    { what: 'nothing', header: undefined },
    { what: 'another scheme', header: 'Bearer abc' },
    { what: 'no base64', header: 'Basic ?' },
    { what: 'no colon', header: `Basic ${Buffer.from('alice').toString('base64')}` },
  ])('is refused with $what, and nothing is compared', async ({ header }) => {
    let comparisons = 0;
    const auth = new BasicAuth(async () => {
      comparisons += 1;
      return true;
    });

    expect(await auth.check(new Map(Object.entries(hashes)), header, '10.0.0.1')).toBe('refused');
    expect(comparisons).toBe(0);
  });
});

describe('an unknown user', () => {
  it('costs as many comparisons of the same cost as a known one', async () => {
    const costsOf = async (user: string): Promise<readonly string[]> => {
      const bench = aBench({ alice: hashes.alice });
      for (const password of ['a', 'b', 'a']) await answered(bench, user, password, false);
      return bench.comparisons.map(({ hash }) => hash.slice(0, 7));
    };

    expect(await costsOf('eve')).toEqual(await costsOf('alice'));
    expect(await costsOf('eve')).toEqual(['$2y$10$', '$2y$10$']);
  });
});

/** Answers comparisons until no more come. */
async function answerAll({ comparisons }: Bench): Promise<void> {
  for (let count = -1; count < comparisons.length; count += 1) {
    comparisons.at(-1)?.answer(comparisons.at(-1)?.password === 'right');
    await settle();
  }
}

describe('checks at the same time', () => {
  it('of the same password compare it once', async () => {
    const bench = aBench();
    const verdicts = [bench.ask('alice', 'right'), bench.ask('alice', 'right')];
    await answerAll(bench);

    expect(await Promise.all(verdicts)).toEqual(['allowed', 'allowed']);
    expect(bench.comparisons).toHaveLength(1);
  });

  it('are at most two of a client, and others go on', async () => {
    const { ask, comparisons } = aBench();
    const wrong = [ask('alice', '1'), ask('alice', '2')];
    const third = await ask('alice', '3');
    const other = ask('alice', 'right', '10.0.0.2');
    for (let index = 0; index < 3; index += 1) {
      comparisons.at(-1)?.answer(comparisons.at(-1)?.password === 'right');
      await settle();
    }
    await Promise.all(wrong);
    const later = ask('alice', '3');
    comparisons.at(-1)?.answer(false);

    expect([third, await other, await later]).toEqual(['busy', 'allowed', 'refused']);
  });

  it('are at most 32, and a password that is known to be right needs none', async () => {
    const bench = aBench();
    await answered(bench, 'alice', 'right', true);
    const flood = Array.from({ length: 32 }, async (_, index) =>
      bench.ask('eve', `${index}`, `10.0.1.${index}`),
    );
    const oneMore = await bench.ask('alice', 'other', '10.0.0.3');
    const known = await bench.ask('alice', 'right', '10.0.0.4');
    for (let index = 0; index < 32; index += 1) {
      bench.comparisons.at(-1)?.answer(false);
      await settle();
    }

    expect([oneMore, known]).toEqual(['busy', 'allowed']);
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['refused']));
  });

  it('of networks that have asked less often come first, and take the places of others', async () => {
    const bench = aBench();
    await answered(bench, 'alice', 'wrong', false);
    const flood = Array.from({ length: 32 }, async (_, index) =>
      bench.ask('eve', `${index}`, index < 2 ? '10.0.0.1' : `10.0.1.${index}`),
    );
    const scraper = bench.ask('alice', 'right', '10.0.0.2');
    bench.comparisons.at(-1)?.answer(false);
    const pushedOut = await flood[1];
    for (let index = 0; index < 31; index += 1) {
      bench.comparisons.at(-1)?.answer(bench.comparisons.at(-1)?.password === 'right');
      await settle();
    }

    expect([pushedOut, await scraper]).toEqual(['busy', 'allowed']);
    expect((await Promise.all(flood)).filter((verdict) => verdict === 'busy')).toHaveLength(1);
  });

  it('go on after one that failed', async () => {
    const bench = aBench();
    const broken = bench.ask('alice', 'broken');
    const right = bench.ask('alice', 'right', '10.0.0.2');
    bench.comparisons.at(-1)?.fail(new Error('no thread'));

    await expect(broken).rejects.toThrow('no thread');
    await answerAll(bench);
    expect(await right).toBe('allowed');
  });
});

/** What becomes of a scrape each five seconds, the first 2 s after 200 passwords a second began. */
async function scrapesInAFlood(
  clientOf: (attempt: number) => string,
  comparisonMs: number,
): Promise<readonly string[]> {
  const bench = aBench();
  const scrapes: string[] = [];
  let nowMs = 0;
  const scrape = async (index: number): Promise<void> => {
    const deadlineMs = nowMs + 5000;
    const verdict = await bench.ask('alice', 'right', '10.0.0.1');
    if (nowMs < deadlineMs) scrapes[index] = verdict;
  };
  for (; nowMs < 52_000; nowMs += 5) {
    void bench.ask('alice', `wrong ${nowMs}`, clientOf(nowMs / 5));
    if (nowMs % 5000 === 2000) {
      void scrape(scrapes.push('no answer') - 1);
    }
    if (nowMs % comparisonMs === 0) {
      const last = bench.comparisons.at(-1);
      last?.answer(last.password === 'right');
      await settle();
    }
  }
  return scrapes;
}

describe('5.2 200 wrong passwords a second', () => {
  it.each([
    { from: '40 addresses', clientOf: (attempt: number) => `10.0.1.${attempt % 40}` },
    { from: 'an IPv6 network', clientOf: (attempt: number) => `2001:db8::${attempt.toString(16)}` },
  ])('from $from lock out nobody else, however busy the machine is', async ({ clientOf }) => {
    const calm = await scrapesInAFlood(clientOf, 100);
    const scrapes = await scrapesInAFlood(clientOf, 2000);

    expect(calm.filter((verdict) => verdict === 'allowed').length).toBeGreaterThanOrEqual(9);

    expect(scrapes).toHaveLength(10);
    expect(scrapes.filter((verdict) => verdict === 'allowed').length).toBeGreaterThanOrEqual(9);
  });
});

describe('networkOf', () => {
  it.each([
    { client: '10.1.2.3', network: '10.1.2.3' },
    { client: '::ffff:10.1.2.3', network: '10.1.2.3' },
    { client: '2001:db8:1:2:3:4:5:6', network: '2001:db8:1:2' },
    { client: '2001:db8::5', network: '2001:db8:0:0' },
    { client: '::1', network: '0:0:0:0' },
    { client: '', network: '' },
  ])('of $client is $network', ({ client, network }) => {
    expect(networkOf(client)).toBe(network);
  });
});

describe('what is remembered', () => {
  it('counts as long as the user has the same hash, whatever else changes', async () => {
    const bench = aBench();
    await answered(bench, 'alice', 'right', true);
    bench.change({ alice: hashes.alice, carol: hashes.bob });
    const same = await bench.ask('alice', 'right');
    bench.change({ alice: hashes.bob });
    const changed = await answered(bench, 'alice', 'right', false);
    bench.change({ bob: hashes.bob });
    const gone = await answered(bench, 'alice', 'right', false);

    expect([same, changed, gone]).toEqual(['allowed', 'refused', 'refused']);
    expect(bench.comparisons.map(({ hash }) => hash)).toEqual([
      hashes.alice,
      hashes.bob,
      expect.not.stringContaining(tail),
    ]);
  });

  it('is bounded, and wrong passwords displace no right one', async () => {
    const bench = aBench();
    await answered(bench, 'alice', 'right', true);
    for (let index = 0; index <= 1000; index += 1) {
      await answered(bench, 'alice', `wrong ${index}`, false);
    }
    const before = bench.comparisons.length;

    expect(await bench.ask('alice', 'right')).toBe('allowed');
    expect(await bench.ask('alice', 'wrong 1000')).toBe('refused');
    expect(bench.comparisons).toHaveLength(before);
    expect(await answered(bench, 'alice', 'wrong 0', false)).toBe('refused');
    expect(bench.comparisons).toHaveLength(before + 1);
  });

  it('does not mix up names and passwords', async () => {
    const bench = aBench({ a: hashes.alice, 'a"': hashes.alice });
    await answered(bench, 'a', '","b', true);

    expect(await answered(bench, 'a"', ',"b', false)).toBe('refused');
    expect(bench.comparisons).toHaveLength(2);
  });
});

describe('credentialsIn', () => {
  it('reads every name without a colon, and every password', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes(':')),
        fc.string({ unit: 'grapheme' }),
        (user, password) => {
          expect(credentialsIn(basic(user, password))).toEqual({ user, password });
        },
      ),
    );
  });
});
