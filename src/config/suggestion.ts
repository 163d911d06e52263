import { distance } from 'fastest-levenshtein';

/**
 * How many letters may differ if a word counts as misspelt. Two swapped letters count as two changes;
 * two changes of a word under four letters would leave nothing in common.
 */
function toleranceFor(word: string, candidate: string): number {
  const shorter = Math.min(word.length, candidate.length);
  return Math.max(shorter < 4 ? 1 : 2, Math.floor(shorter / 3));
}

/** The candidate that was probably meant by `word`, if one is near enough. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const limit = toleranceFor(word, candidate);
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

/** The help for a word that is not one of the candidates. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const near = closest(word, candidates);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}

/** Nobody would read a question that names more. */
const mostSuggested = 3;
/** Shorter texts are parts of too many words. */
const shortestPart = 3;

function isPart(part: string, whole: string): boolean {
  return part.length >= shortestPart && whole.includes(part);
}

/** The help for a word of which several candidates may be meant: a similar one, or one that is a part. */
export function didYouMeanOneOf(word: string, candidates: readonly string[]): string | undefined {
  const near = closest(word, candidates);
  const lower = word.toLowerCase();
  const names = candidates
    .filter((name) => name === near || isPart(lower, name) || isPart(name, lower))
    .slice(0, mostSuggested)
    .map((name) => `"${name}"`);
  if (names.length < 2) return names.length === 0 ? undefined : `did you mean ${names[0]}?`;
  return `did you mean ${names.slice(0, -1).join(', ')} or ${names.at(-1)}?`;
}
