import type { Application } from '../../model/application.ts';
import type { AppEntry } from '../../model/config.ts';
import type { SelectedApplication } from '../../model/selected-application.ts';
import { createApplicationSelector } from '../../model/selector.ts';

interface Selection {
  readonly selected: readonly SelectedApplication[];
  /** The applications that are left out, each with the entry that says so. */
  readonly excluded: readonly SelectedApplication[];
  /** The entries that chose nothing, not even an application that an earlier entry had taken. */
  readonly missing: readonly AppEntry[];
}

/**
 * Matches the entries of one account with its applications. An application that several entries
 * choose belongs to the first of them, so that it is polled once.
 */
export function selectApplications(
  entries: readonly AppEntry[],
  applications: readonly Application[],
): Selection {
  const selector = createApplicationSelector(entries);
  const chosen = applications.flatMap((application): SelectedApplication[] => {
    const entry = selector.entryOf(application);
    return entry === undefined ? [] : [{ application, entry }];
  });
  return {
    selected: chosen.filter(({ entry }) => !entry.exclude),
    excluded: chosen.filter(({ entry }) => entry.exclude),
    missing: selector.missing(),
  };
}
