import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BasicAuth, type Verdict } from '../../src/web/basic-auth.ts';
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
  await settle();
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

    const again = await answered(bench, user, 'right', false);

    expect([right, other, again]).toEqual(['allowed', 'refused', 'refused']);
    expect(bench.comparisons).toHaveLength(3);
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
    expect(await costsOf('eve')).toEqual(['$2y$10$', '$2y$10$', '$2y$10$']);
  });
});

/** Answers comparisons until no more come. */
async function answerAll({ comparisons }: Bench): Promise<void> {
  await settle();
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

  it('are one of a client, and others go on', async () => {
    const bench = aBench();
    const { ask } = bench;
    const wrong = ask('alice', '1');
    const second = await ask('alice', '2');
    const other = ask('alice', 'right', '10.0.0.2');
    await answerAll(bench);
    const later = ask('alice', '2');
    await answerAll(bench);

    expect([second, await wrong, await other, await later]).toEqual([
      'busy',
      'refused',
      'allowed',
      'refused',
    ]);
  });

  it('are 20 at most, one after the other, and a password that was right before needs none', async () => {
    const bench = aBench();
    await answered(bench, 'alice', 'right', true);
    const flood = Array.from({ length: 20 }, async (_, index) =>
      bench.ask('eve', `${index}`, `10.0.1.${index}`),
    );
    const oneMore = await bench.ask('alice', 'other', '10.0.0.3');
    const known = await bench.ask('alice', 'right', '10.0.0.4');
    await settle();
    const atOnce = bench.comparisons.length - 1;
    await answerAll(bench);

    expect([oneMore, known, atOnce]).toEqual(['busy', 'allowed', 1]);
    expect(await Promise.all(flood)).toEqual(Array.from({ length: 20 }, () => 'refused'));
  });

  it('go on after one that failed', async () => {
    const bench = aBench();
    const broken = bench.ask('alice', 'broken');
    const right = bench.ask('alice', 'right', '10.0.0.2');
    await settle();
    bench.comparisons.at(-1)?.fail(new Error('no thread'));

    await expect(broken).rejects.toThrow('no thread');
    await answerAll(bench);
    expect(await right).toBe('allowed');
  });
});

/** How long a check takes. */
const checkMs = 100;

/**
 * A flood of 200 wrong passwords a second for a minute, each from the next of 40 addresses.
 *
 * @param join called every five seconds, with the time
 */
async function afterAFlood(
  bench: Bench,
  join: (nowMs: () => number) => Promise<void>,
): Promise<readonly Verdict[]> {
  const { ask, comparisons } = bench;
  const verdicts: Verdict[] = [];
  let nowMs = 0;
  for (; nowMs < 60_000; nowMs += 5) {
    if (nowMs % 5000 === 0) void join(() => nowMs);
    void ask('alice', `wrong ${nowMs}`, `10.0.1.${(nowMs / 5) % 40}`).then((verdict) =>
      verdicts.push(verdict),
    );
    if (nowMs % checkMs === 0) {
      await settle();
      comparisons.at(-1)?.answer(comparisons.at(-1)?.password.startsWith('right') === true);
    }
  }
  await answerAll(bench);
  return verdicts;
}

describe('5.2 200 wrong passwords a second', () => {
  it('delay no password that was right before, and most are told at once to come again', async () => {
    const bench = aBench();
    await answered(bench, 'alice', 'right', true);
    const waitedMs: number[] = [];
    const verdicts = await afterAFlood(bench, async (nowMs) => {
      const startMs = nowMs();
      if ((await bench.ask('alice', 'right')) === 'allowed') waitedMs.push(nowMs() - startMs);
    });

    expect(waitedMs).toEqual(Array.from({ length: 12 }, () => 0));
    expect(verdicts).toHaveLength(12_000);
    // One check after the other, and those that still waited at the end.
    expect(verdicts.filter((verdict) => verdict === 'refused').length).toBeLessThanOrEqual(620);
  });

  it('delay a first right one by two seconds at most, or it is told at once to come again', async () => {
    const bench = aBench();
    const waitedMs: Record<string, number[]> = { allowed: [], busy: [], refused: [] };
    await afterAFlood(bench, async (nowMs) => {
      const startMs = nowMs();
      const verdict = await bench.ask('alice', `right ${startMs}`, '10.0.0.2');
      waitedMs[verdict]?.push(nowMs() - startMs);
    });

    expect(waitedMs['allowed']?.length).toBeGreaterThan(0);
    expect(Math.max(...(waitedMs['allowed'] ?? []))).toBeLessThanOrEqual(2000);
    expect(new Set(waitedMs['busy'])).toEqual(new Set([0]));
    expect(waitedMs['refused']).toEqual([]);
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

  it('is what was right: a wrong password is compared again, and displaces no right one', async () => {
    const bench = aBench();
    await answered(bench, 'alice', 'right', true);
    for (const password of ['1', '2', '1']) await answered(bench, 'alice', password, false);

    expect(await bench.ask('alice', 'right')).toBe('allowed');
    expect(bench.comparisons).toHaveLength(4);
  });

  it('does not mix up names and passwords', async () => {
    const bench = aBench({ a: hashes.alice, 'a"': hashes.alice });
    await answered(bench, 'a', '","b', true);

    expect(await answered(bench, 'a"', ',"b', false)).toBe('refused');
    expect(bench.comparisons).toHaveLength(2);
  });
});

describe('the header', () => {
  it('is read with every name without a colon, and every password', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes(':')),
        fc.string({ unit: 'grapheme' }),
        async (user, password) => {
          const bench = aBench({
            [user]: hashes.bob,
            ...(user === '' ? {} : { '': hashes.alice }),
          });
          const verdict = await answered(bench, user, password, true);

          expect(verdict).toBe('allowed');
          expect(bench.comparisons).toMatchObject([{ hash: hashes.bob, password }]);
        },
      ),
    );
  });
});
