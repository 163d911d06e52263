import { ApiError } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import { selectorText } from '../../model/selector.ts';
import type { Source } from '../../model/source.ts';
import { type EntityList, listEntities } from './entity-list.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { listHosts } from './host-list.ts';
import { searchesFor, type WantedApplications, wantedBy } from './search.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

export interface DiscoveryDependencies {
  readonly client: GraphqlClient;
  readonly unexpected: UnexpectedAnswers;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** New Relic's time. */
  readonly wallMs: () => number;
}

const hourMs = 3_600_000;
const noApplication = '0';

/**
 * Searches the applications that the selectors may choose. A known application that the search leaves
 * out is searched by its id.
 */
export function createDiscover(
  accountId: number,
  { client, unexpected, clock, wallMs }: DiscoveryDependencies,
): Source['discover'] {
  const filters = new Filters({ unexpected, clock });

  const search = async (
    ...[selectors, knownIds, signal, tags]: Parameters<Source['discover']>
  ): Promise<EntityList> => {
    const read = async (wanted: WantedApplications | undefined): Promise<EntityList> =>
      listEntities(searchesFor(accountId, wanted), accountId, { client, signal, tags });

    const wanted = filters.areTrusted ? wantedBy(selectors) : undefined;
    let list = await read(wanted);
    if (wanted !== undefined) {
      if (filters.areRefused(list)) return plus(list, await read(undefined));
      const missing = missingIn(list, selectors.map(selectorText));
      if (list.error === undefined && filters.mayHaveOverlooked(missing)) {
        const whole = await read(undefined);
        // The next discoveries do without.
        list = { ...plus(list, whole), calls: list.calls };
        filters.compare(missing, list);
      }
    }
    const asked = new Set(wanted?.ids);
    const lost = knownIds.filter((id) => !list.applications.has(id) && !asked.has(id));
    if (list.error !== undefined || lost.length === 0 || !filters.areTrusted) return list;
    const found = plus(list, await read({ ids: lost, names: [] }));
    return filters.areRefused(found) ? plus(found, await read(undefined)) : found;
  };

  /**
   * A search finds nothing in an account that the key may not see, without an error; a query says so.
   * An empty list is believed only if the account can be read.
   */
  const confirmed = async (list: EntityList, signal: AbortSignal): Promise<EntityList> => {
    const isEmpty = list.applications.size === 0 && list.unreadableIds.length === 0;
    if (!isEmpty || list.error !== undefined) return list;
    const { error } = await listHosts(noApplication, { client, wallMs, signal });
    return { ...list, error, calls: list.calls + 1 };
  };

  return async (selectors, knownIds, signal, tags) => {
    const list = await confirmed(await search(selectors, knownIds, signal, tags), signal);
    const error = abortOf(signal) ?? list.error;
    return {
      applications: [...list.applications.values()].map((application) => ({
        ...application,
        // Polls name the others.
        hostIds: application.reporting === false ? [] : undefined,
      })),
      complete: error === undefined,
      unreadableIds: list.unreadableIds,
      pendingIds: [],
      calls: list.calls,
      error,
    };
  };
}

/**
 * Whether searches by ids and names can be trusted: New Relic documents neither in full. What such a search
 * leaves out, the list of the account may have.
 */
class Filters {
  areTrusted = true;
  readonly #dependencies: Pick<DiscoveryDependencies, 'unexpected' | 'clock'>;
  /** What the list did not have either, and when. */
  #absent: ReadonlySet<string> = new Set();
  #absentAtMs = 0;

  constructor(dependencies: Pick<DiscoveryDependencies, 'unexpected' | 'clock'>) {
    this.#dependencies = dependencies;
  }

  areRefused({ error }: EntityList): boolean {
    if (error?.status !== 400) return false;
    this.areTrusted = false;
    this.#dependencies.unexpected.saw('filter_refused', { error });
    return true;
  }

  /** Whether the list has to be read for these, which is so once an hour at most for each. */
  mayHaveOverlooked(missing: readonly string[]): boolean {
    const { clock } = this.#dependencies;
    // What was found again is new when it goes.
    this.#absent = new Set(missing.filter((text) => this.#absent.has(text)));
    const isOld = clock.monotonicMs() - this.#absentAtMs >= hourMs;
    return missing.length > this.#absent.size || (missing.length > 0 && isOld);
  }

  compare(missing: readonly string[], list: EntityList): void {
    const { clock, unexpected } = this.#dependencies;
    if (list.error !== undefined) return;
    this.#absent = new Set(missingIn(list, missing));
    this.#absentAtMs = clock.monotonicMs();
    const overlooked = missing.find((text) => !this.#absent.has(text));
    if (overlooked === undefined) return;
    this.areTrusted = false;
    unexpected.saw('filter_refused', { left_out: overlooked });
  }
}

/** The deadline that has passed. Throws any other reason of an abort. */
function abortOf(signal: AbortSignal): ApiError | undefined {
  if (!signal.aborted) return undefined;
  if (signal.reason instanceof ApiError) return signal.reason;
  throw signal.reason;
}

/** Which of these texts of selectors of ids and names choose nothing. */
function missingIn(
  { applications, unreadableIds }: EntityList,
  texts: readonly string[],
): readonly string[] {
  const ids = [...applications.keys(), ...unreadableIds];
  const found = new Set([
    ...ids.map((id) => selectorText({ kind: 'id', id })),
    ...[...applications.values()].map(({ name }) => selectorText({ kind: 'name', name })),
  ]);
  return texts.filter((text) => !found.has(text));
}

function plus(left: EntityList, right: EntityList): EntityList {
  return {
    applications: new Map([...left.applications, ...right.applications]),
    unreadableIds: [...new Set([...left.unreadableIds, ...right.unreadableIds])],
    error: right.error,
    calls: left.calls + right.calls,
  };
}
