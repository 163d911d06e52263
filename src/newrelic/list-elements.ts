import { type CallSubject, failureOf } from './failure-of-answer.ts';
import type { JsonObject } from './json.ts';

/** Real pages have 200. To look at a million would hold up the whole process for seconds. */
const maxElements = 1000;

/** The elements of one page of a list. Throws an `ApiError` when there is none, or one that is too long. */
export function listElementsOf(
  document: JsonObject,
  member: string,
  subject: CallSubject,
): readonly unknown[] {
  const elements = document[member];
  if (!Array.isArray(elements)) {
    throw failureOf(subject, 'schema', `the answer has no list of ${member}`);
  }
  if (elements.length > maxElements) {
    const detail = `the answer lists ${elements.length} ${member} on one page, which has 200 at most`;
    throw failureOf(subject, 'schema', detail);
  }
  return elements as readonly unknown[];
}
