import { distance } from 'fastest-levenshtein';
import { documentUrl } from '../model/shown-text.ts';

/**
 * The candidate that was probably meant by `word`, if one is near enough. The first letter is hardly ever
 * mistyped: with another one a word means something else, as `avg_time` and `min_time`.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const shorter = Math.min(word.length, candidate.length);
    // Two swapped letters count as two changes; two of a word under four letters would leave nothing in common.
    const limit = Math.max(shorter < 4 ? 1 : 2, Math.floor(shorter / 3));
    if (candidate.charAt(0).toLowerCase() !== lower.charAt(0)) continue;
    // The difference in length is a lower bound: it saves the comparison of hopeless pairs.
    if (Math.abs(word.length - candidate.length) > limit) continue;
    const found = distance(lower, candidate.toLowerCase());
    if (found <= limit && found < candidate.length && found < bestDistance) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

/** What other programs call our keys and presets. */
const otherWords: ReadonlyMap<string, readonly string[]> = new Map([
  ['id', ['app_id', 'application_id', 'guid']],
  ['apps', ['applications']],
  ['nerdgraph', ['graphql', 'nrql']],
  ['as', ['name']],
  ['nrql', ['query', 'expr']],
  ['response_time', ['latency', 'duration', 'rt']],
  ['errors', ['error_rate', 'errors_per_minute']],
  ['throughput', ['rpm', 'requests', 'requests_per_minute']],
  ['us', ['usa', 'america']],
  ['eu', ['europe']],
  ['jp', ['japan']],
  ['gov', ['fedramp', 'government']],
  ['database', ['db']],
  ['memory', ['mem']],
  ['cpu', ['cpu_usage']],
]);

const percentile = /^p\d|percentile|median|histogram/iu;

/** The help for a word that is not one of the candidates. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.includes('response_time') && percentile.test(word)) {
    return `percentiles come from "queries": ${documentUrl('queries.md')}`;
  }
  const other = candidates.find(
    (one) => otherWords.get(one)?.includes(word.toLowerCase()) === true,
  );
  const near = other ?? closest(word, candidates);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}
