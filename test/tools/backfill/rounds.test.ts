import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import { hourMs, minuteMs } from '../../../src/model/time.ts';
import { inRounds, type Missing } from '../../../src/tools/backfill/rounds.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

interface Item {
  readonly kind: string;
  readonly number: number;
}
const itemsOf = (kind: string, count: number): readonly Item[] =>
  Array.from({ length: count }, (_, number) => ({ kind, number }));
const nameOf = ({ kind, number }: Item): string => `${kind}${number}`;

/** What an answer is at a time; `undefined` if it is a good one. */
type Vendor = (item: Item, atMs: number) => Error | undefined;
const failure = (status: number, reason: FailureReason = 'auth'): ApiError =>
  new ApiError(reason, `status ${status}`, { status });

async function asked(lines: readonly (readonly Item[])[], vendor: Vendor, stopMs?: number) {
  const clock = createFakeClock();
  const controller = new AbortController();
  const startMs = clock.monotonicMs();
  const calls: { readonly name: string; readonly atMs: number }[] = [];
  const there = new Set<Item>();
  const told: string[] = [];
  let inFlight = 0;
  const state = { hasEnded: false };
  if (stopMs !== undefined) clock.after(stopMs, () => controller.abort(new Error('stopped')));
  const ending = inRounds<Item>(
    lines.map((items) => ({
      workers: 3,
      left: async () => items.filter((one) => !there.has(one)),
    })),
    {
      kindOf: ({ kind }) => kind,
      ask: async (item) => {
        const atMs = clock.monotonicMs() - startMs;
        calls.push({ name: nameOf(item), atMs });
        inFlight += 1;
        await new Promise<void>((resolve) => {
          clock.after(100, resolve);
        });
        inFlight -= 1;
        const error = vendor(item, atMs);
        if (error !== undefined) throw error;
        there.add(item);
      },
      onFailure: (item) => told.push(nameOf(item)),
      clock,
      signal: controller.signal,
    },
  )
    .catch((error: Error) => error)
    .finally(() => {
      state.hasEnded = true;
    });
  while (!state.hasEnded) await clock.advance(100);
  const result: readonly Missing<Item>[] | Error = await ending;
  return {
    error: result instanceof Error ? result.message : undefined,
    missing: result instanceof Error ? [] : result.map(({ item }) => nameOf(item)),
    why: new Set(result instanceof Error ? [] : result.map(({ error }) => error?.message)),
    calls: calls.map(({ name }) => name),
    callsOf: (name: string) => calls.filter((one) => one.name === name).length,
    elapsedMs: clock.monotonicMs() - startMs,
    lastMs: calls.at(-1)?.atMs ?? 0,
    there: there.size,
    told,
    inFlight,
  };
}

const kinds = (count: number): readonly Item[] =>
  Array.from({ length: count }, (_, index) => itemsOf(`k${index}-`, 100)).flat();

describe('asking in rounds', () => {
  it('asks for each once where nothing fails', async () => {
    const { calls, missing, elapsedMs } = await asked([kinds(3)], () => undefined);

    expect([new Set(calls).size, calls.length, missing]).toEqual([300, 300, []]);
    expect(elapsedMs).toBeLessThan(minuteMs);
  });

  it('asks again for one that failed, after the others, however often one answer in ten is bad', async () => {
    let count = 0;
    const { missing, calls, told } = await asked([kinds(3)], () => {
      count += 1;
      return count % 10 === 0 ? failure(200, 'not_json') : undefined;
    });

    expect(missing).toEqual([]);
    expect(calls.length).toBeLessThan(340);
    expect(told.length).toBeGreaterThan(10);
  });

  it.each([401, 403, 503, 200])('ends after an hour of %i with few calls', async (status) => {
    const { missing, calls, elapsedMs, why } = await asked([kinds(100)], () => failure(status));

    expect(missing).toHaveLength(10_000);
    expect(why).toEqual(new Set([`status ${status}`]));
    expect(calls.length).toBeLessThan(70);
    expect(elapsedMs).toBeGreaterThan(hourMs);
    expect(elapsedMs).toBeLessThan(1.2 * hourMs);
  });

  it('goes on when an outage of half an hour is over, and forgets it', async () => {
    const isOut = (atMs: number): boolean => atMs > 500 && atMs < hourMs / 2;
    const { missing, calls } = await asked([kinds(10)], (_, atMs) =>
      isOut(atMs) || (atMs > hourMs && atMs < 1.5 * hourMs) ? failure(503, 'server') : undefined,
    );

    expect(missing).toEqual([]);
    expect(calls.length).toBeLessThan(1070);
  });

  it('sets a kind aside that fails for good, and asks it for others of its items each time', async () => {
    const all = kinds(4);
    const { missing, callsOf, there } = await asked([all], ({ kind, number }) =>
      kind === 'k1-' && number < 2 ? failure(413, 'too_large') : undefined,
    );

    expect(missing).toEqual(['k1-0', 'k1-1']);
    expect(there).toBe(398);
    expect(callsOf('k1-0')).toBeLessThan(12);
  });

  it('gets all of what is good, however many kinds before it are bad for good', async () => {
    const { there } = await asked([kinds(30)], ({ kind }) =>
      Number(kind.slice(1, -1)) < 25 ? failure(413, 'too_large') : undefined,
    );

    expect(there).toBe(500);
  });

  it('does not ask again for a kind that is not accepted, and says so at once', async () => {
    const { missing, calls, elapsedMs } = await asked([kinds(3)], ({ kind }) =>
      kind === 'k1-' ? failure(400, 'client') : undefined,
    );

    expect(missing).toHaveLength(100);
    expect(calls.filter((name) => name.startsWith('k1-')).length).toBeLessThan(4);
    expect(elapsedMs).toBeLessThan(minuteMs);
  });

  it('lets other lines go on', async () => {
    const { missing, there } = await asked([itemsOf('a', 50), itemsOf('b', 50)], ({ kind }) =>
      kind === 'a' ? failure(401) : undefined,
    );

    expect([missing.length, there]).toEqual([50, 50]);
  });

  it('ends all lines at once when something else than a call fails, also those that wait', async () => {
    const { error, elapsedMs, inFlight } = await asked(
      [itemsOf('a', 50), itemsOf('b', 600)],
      ({ kind, number }) => {
        if (kind === 'a') return failure(401);
        return number === 500 ? new Error('the disk is full') : undefined;
      },
    );

    expect([error, inFlight]).toEqual(['the disk is full', 0]);
    expect(elapsedMs).toBeLessThan(minuteMs);
  });

  it('ends with the reason of a stop, in a pause, too', async () => {
    const { error, elapsedMs } = await asked([kinds(1)], () => failure(401), 10_000);

    expect(error).toBe('stopped');
    expect(elapsedMs).toBeLessThan(11_000);
  });
});
