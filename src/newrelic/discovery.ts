import type { ApiError, FailureReason } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { Selector } from '../model/config.ts';
import type { Discovery } from '../model/source.ts';
import { isEntityId } from './entity-id.ts';
import type { PagedList } from './paging.ts';

/** Asks for the applications with these ids, or for all of the account. */
export type ReadApplications = (
  ids: readonly string[] | undefined,
) => Promise<PagedList<Application>>;

// As many as the vendor puts on a page. A URL of this many ids stays under 4 kB.
const idsPerCall = 200;

// After one of these the other calls of the discovery would fail in the same way.
const endingReasons: ReadonlySet<FailureReason> = new Set([
  'auth',
  'throttled',
  'redirect',
  'dns',
  'connect',
  'tls',
]);

/**
 * Finds what the selectors may choose from. Ids alone are asked for by id; a name or a pattern, or
 * no selector at all, takes the list of the whole account.
 *
 * A wanted id that an answer leaves out is asked for alone before it counts as missing: neither how
 * many ids the vendor accepts at once nor the order of its pages is documented. An `ApiError` makes
 * the discovery incomplete; anything else, such as the reason of an abort, is passed on.
 */
export async function discoverApplications(
  selectors: readonly Selector[],
  read: ReadApplications,
): Promise<Discovery> {
  const wantedIds = wantedIdsOf(selectors);
  const findings = createFindings();

  const doubtfulIds: string[] = [];
  for (const ids of questionsOf(selectors, wantedIds)) {
    const list = await read(ids);
    findings.add(list);
    if (endsDiscovery(list.error)) return findings.result();
    const askedAlone = ids?.length === 1;
    if (list.error === undefined && !askedAlone) doubtfulIds.push(...(ids ?? wantedIds));
  }

  for (const id of doubtfulIds) {
    if (findings.has(id)) continue;
    const list = await read([id]);
    // Whether an unknown id gives an empty list or 404 is not documented: both say the same.
    findings.add(list.error?.reason === 'not_found' ? { ...list, error: undefined } : list);
    if (endsDiscovery(list.error)) break;
  }
  return findings.result();
}

interface Findings {
  has(id: string): boolean;
  add(list: PagedList<Application>): void;
  result(): Discovery;
}

/** Collects lists. Of an application that stands in several places the first one counts. */
function createFindings(): Findings {
  const found = new Map<string, Application>();
  let firstError: ApiError | undefined;
  let calls = 0;
  return {
    has: (id) => found.has(id),
    add: (list) => {
      for (const application of list.items) {
        if (!found.has(application.id)) found.set(application.id, application);
      }
      firstError ??= list.error;
      calls += list.calls;
    },
    result: () => ({
      applications: [...found.values()],
      complete: firstError === undefined,
      calls,
      error: firstError,
    }),
  };
}

function endsDiscovery(error: ApiError | undefined): boolean {
  return error !== undefined && endingReasons.has(error.reason);
}

/** The ids of the selectors, once each. What is not a number can be no application's id. */
function wantedIdsOf(selectors: readonly Selector[]): string[] {
  const ids = selectors.flatMap((selector) => (selector.kind === 'id' ? [selector.id] : []));
  return [...new Set(ids.filter(isEntityId))];
}

/** The lists to ask for; `undefined` is the list of the whole account. */
function questionsOf(
  selectors: readonly Selector[],
  wantedIds: readonly string[],
): (readonly string[] | undefined)[] {
  const onlyIds = selectors.length > 0 && selectors.every(({ kind }) => kind === 'id');
  if (!onlyIds) return [undefined];
  const questions: (readonly string[])[] = [];
  for (let start = 0; start < wantedIds.length; start += idsPerCall) {
    questions.push(wantedIds.slice(start, start + idsPerCall));
  }
  return questions;
}
