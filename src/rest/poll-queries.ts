import type { PollConfig } from '../model/config.ts';
import { windowAt } from '../model/window.ts';
import type { CallGroups, SeriesGroup } from './call-groups.ts';
import type { MetricQuery } from './metric-payload.ts';

/** One of the calls that ask for the values of an application, or of a host. */
export interface GroupQuery extends MetricQuery, SeriesGroup {
  /** How many such calls there are. */
  readonly calls: number;
}

/** What one poll asks for: the same of every host, and all of it for the same window. */
export class PollQueries {
  readonly groups: CallGroups;
  readonly #poll: PollConfig;
  readonly #queries = new Map<SeriesGroup, GroupQuery>();

  constructor(groups: CallGroups, poll: PollConfig) {
    this.groups = groups;
    this.#poll = poll;
  }

  /** @param wallMs the vendor's wall time when the poll began */
  at(wallMs: number, scope: keyof CallGroups, group: SeriesGroup): GroupQuery {
    const known = this.#queries.get(group);
    if (known !== undefined) return known;
    const { window, delayMs, raw } = this.#poll;
    const { length: calls } = this.groups[scope];
    const query = { ...group, calls, window: windowAt(wallMs, window, delayMs), raw };
    this.#queries.set(group, query);
    return query;
  }
}
