import type { Application } from './application.ts';
import type { AppEntry, PatternSource, Selector } from './config.ts';

/** The selector as its user wrote it, such as `id=123`: the value of the label `selector`. */
export function selectorText(selector: Selector<PatternSource>): string {
  switch (selector.kind) {
    case 'id':
      return `id=${selector.id}`;
    case 'name':
      return `name=${selector.name}`;
    case 'match':
      return `match=${selector.pattern.source}`;
  }
}

/** Whether the selector chooses the application. Names are compared exactly. */
export function selects(
  selector: Selector,
  application: Pick<Application, 'id' | 'name'>,
): boolean {
  switch (selector.kind) {
    case 'id':
      return selector.id === application.id;
    case 'name':
      return selector.name === application.name;
    case 'match':
      return selector.pattern.test(application.name);
  }
}

/** An application together with the entry that chose it. */
export interface SelectedApplication {
  readonly application: Application;
  readonly entry: AppEntry;
}

export interface Selection {
  readonly selected: readonly SelectedApplication[];
  /** The entries that chose nothing, not even something an earlier entry had taken. */
  readonly missing: readonly AppEntry[];
}

/**
 * Matches the entries of one account with the applications that it has. An application chosen by
 * several entries belongs to the first of them, so that it is polled once.
 */
export function selectApplications(
  entries: readonly AppEntry[],
  applications: readonly Application[],
): Selection {
  const matched = new Set<AppEntry>();
  const selected: SelectedApplication[] = [];
  for (const application of applications) {
    const choosing = entries.filter((entry) => selects(entry.selector, application));
    for (const entry of choosing) matched.add(entry);
    const [first] = choosing;
    if (first !== undefined) selected.push({ application, entry: first });
  }
  return { selected, missing: entries.filter((entry) => !matched.has(entry)) };
}
