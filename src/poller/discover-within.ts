import type { Clock } from '../model/clock.ts';
import type { Selector } from '../model/config.ts';
import type { Discovery, Source } from '../model/source.ts';
import { withinDeadline } from './within-deadline.ts';

/**
 * One discovery; one that takes too long is an incomplete one, with what it has found by then.
 * Rejects with the signal's reason.
 */
export async function discoverWithin(
  deadlineMs: number,
  { source, clock }: { readonly source: Source; readonly clock: Clock },
  selectors: readonly Selector[],
  knownIds: readonly string[],
  signal: AbortSignal,
): Promise<Discovery> {
  return withinDeadline({ what: 'the discovery', deadlineMs }, clock, signal, async (own) =>
    source.discover(selectors, knownIds, own),
  );
}
