import type { Source } from '../model/source.ts';

/** Divided so often, one bad application of the 200 in a query of NerdGraph stands alone. */
const mostFurtherPolls = 4;

/**
 * Polls once, and again as long as the source has learnt meanwhile that it must ask in another way: the
 * next polls of a daemon would. Resolves to what the last of these polls gave.
 */
export async function pollUntilSettled<Result>(
  source: Pick<Source, 'onCostsChange'>,
  poll: () => Promise<Result>,
): Promise<Result> {
  let isOutdated = false;
  const stop = source.onCostsChange?.(() => {
    isOutdated = true;
  });
  try {
    let result = await poll();
    for (let left = mostFurtherPolls; isOutdated && left > 0; left -= 1) {
      isOutdated = false;
      result = await poll();
    }
    return result;
  } finally {
    stop?.();
  }
}
