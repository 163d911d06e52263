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

/** Whether the letters of `short` are in `long` in this order, beginning with the same: avg, average. */
function isShortFor(short: string, long: string): boolean {
  if (short === long) return true;
  if (short.length < shortestPart || short[0] !== long[0]) return false;
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return at === short.length;
}

/** Whether each part of `word` stands for the part of `name` in its place, as in avg_response_time. */
function isAbbreviation(word: string, name: string): boolean {
  const parts = name.split('_');
  return word.split('_').every((part, index) => isShortFor(part, parts[index] ?? ''));
}

/**
 * The help for a word of which several candidates may be meant: those that it abbreviates, or else a
 * similar one, and those that it is a part of or that are a part of it.
 */
export function didYouMeanOneOf(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const abbreviated = candidates.filter((name) => isAbbreviation(lower, name));
  const near = abbreviated.length > 0 ? abbreviated : [closest(word, candidates)];
  const names = candidates
    .filter((name) => near.includes(name) || isPart(lower, name) || isPart(name, lower))
    .slice(0, mostSuggested)
    .map((name) => `"${name}"`);
  if (names.length < 2) return names.length === 0 ? undefined : `did you mean ${names[0]}?`;
  return `did you mean ${names.slice(0, -1).join(', ')} or ${names.at(-1)}?`;
}
