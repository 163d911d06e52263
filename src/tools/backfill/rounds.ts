import { ApiError } from '../../model/api-error.ts';
import { type Clock, sleep } from '../../model/clock.ts';
import { hourMs } from '../../model/time.ts';
import { eachOf } from '../survey/ask.ts';

/** The pause after a round that has brought something. The next is twice as long, and so on: an hour, all together. */
const firstPauseMs = 15_000;
const longestPauseMs = hourMs;
/** So many kinds that fail in a row are no fault of one of them. */
const mostInRow = 5;

/** What goes on by itself: in rounds with pauses. */
export interface Line<Item> {
  /** How many are asked for at a time. */
  readonly workers: number;
  /** Those that are not there, in their order. */
  readonly left: () => Promise<readonly Item[]>;
}

export interface Rounds<Item> {
  /** What items have in common that may be why they fail. */
  readonly kindOf: (item: Item) => unknown;
  /** An `ApiError` may pass. Any other ends all. */
  readonly ask: (item: Item) => Promise<void>;
  /** Hears of the first that fails in each round. */
  readonly onFailure: (item: Item, error: ApiError) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What cannot be had, and why, if that is known. */
export interface Missing<Item> {
  readonly item: Item;
  readonly error: ApiError | undefined;
}

/**
 * Asks until all is there, or for an hour nothing new has come. In a round one that fails sets those of its kind aside,
 * and others go on. Only what New Relic does not accept (400) is not asked again. Rejects, when nothing is asked any
 * more, with the reason of the signal or with what has ended all.
 */
export async function inRounds<Item>(
  lines: readonly Line<Item>[],
  rounds: Rounds<Item>,
): Promise<readonly Missing<Item>[]> {
  const over = new AbortController();
  const signal = AbortSignal.any([rounds.signal, over.signal]);
  const missing = await Promise.all(
    lines.map(async (line) =>
      askLine(line, { ...rounds, signal }, over).catch((error: unknown) => {
        over.abort(error);
        return [];
      }),
    ),
  );
  signal.throwIfAborted();
  return missing.flat();
}

async function askLine<Item>(
  line: Line<Item>,
  rounds: Rounds<Item>,
  over: AbortController,
): Promise<readonly Missing<Item>[]> {
  const { clock, signal, kindOf } = rounds;
  const errors = new Map<unknown, ApiError>();
  const mayCome = (item: Item): boolean => errors.get(kindOf(item))?.status !== 400;
  let order = await line.left();
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    const failed = await askOnce(order.filter(mayCome), line.workers, rounds, over);
    signal.throwIfAborted();
    for (const [item, error] of failed) errors.set(kindOf(item), error);
    const left = new Set(await line.left());
    if (left.size < order.length) pauseMs = firstPauseMs;
    // What fails is no obstacle: it comes last, and its kind next to last.
    const kinds = new Set([...failed.keys()].map(kindOf));
    const rankOf = (one: Item): number => Number(kinds.has(kindOf(one))) + Number(failed.has(one));
    order = [...new Set([...order, ...left])]
      .filter((one) => left.has(one))
      .toSorted((one, other) => rankOf(one) - rankOf(other));
    if (pauseMs > longestPauseMs || !order.some(mayCome)) {
      // Some were not asked, because of others.
      const last = [...errors.values()].at(-1);
      return [...left].map((item) => ({ item, error: errors.get(kindOf(item)) ?? last }));
    }
    await sleep(clock, pauseMs, signal);
  }
}

/** Asks for each of them once, until too much fails, and gives what has failed. */
async function askOnce<Item>(
  items: readonly Item[],
  workers: number,
  { kindOf, ask, onFailure, signal }: Rounds<Item>,
  over: AbortController,
): Promise<ReadonlyMap<Item, ApiError>> {
  const failed = new Map<Item, ApiError>();
  const aside = new Set<unknown>();
  let inRow = 0;
  await eachOf(items.values(), workers, async (item) => {
    if (signal.aborted || inRow >= mostInRow || aside.has(kindOf(item))) return;
    try {
      await ask(item);
      inRow = 0;
    } catch (error) {
      if (!(error instanceof ApiError)) over.abort(error);
      if (signal.aborted || !(error instanceof ApiError)) return;
      if (failed.size === 0) onFailure(item, error);
      inRow += 1;
      failed.set(item, error);
      aside.add(kindOf(item));
    }
  });
  return failed;
}
