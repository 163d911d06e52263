import { type Application, bareApplication } from '../../model/application.ts';
import type { AppEntry } from '../../model/config.ts';
import { createApplicationSelector, selectorText } from '../../model/selector.ts';
import { countOf } from '../../model/shown-text.ts';
import type { CheckedConfig } from '../survey/finding.ts';

/** An entry that has applications of an earlier file while that is broken. */
interface Shared {
  readonly entry: AppEntry;
  readonly message: string;
  readonly remedy: string;
}

/**
 * Where entries of two files choose the same of these applications of an account. An entry of the file itself does not
 * give way: without it there is no configuration.
 */
export function sharedApplications(
  entries: readonly AppEntry[],
  applications: readonly Application[],
  { config, file }: CheckedConfig,
): readonly Shared[] {
  const main = file.placeOf(undefined).fileName;
  const fileOf = new Map(
    entries.map((entry) => {
      const span = file.at('apps', config.apps.indexOf(entry));
      return [entry, span?.file.fileName ?? main];
    }),
  );
  const files = [...new Set(fileOf.values())];
  if (files.length < 2) return [];
  const selectors = files.map((name) =>
    createApplicationSelector(entries.filter((entry) => fileOf.get(entry) === name)),
  );
  const found = new Map<AppEntry, { first: AppEntry; shared: Application[] }>();
  for (const application of applications) {
    const [first, next] = selectors.flatMap((selector) => selector.entryOf(application) ?? []);
    if (first === undefined || next === undefined || fileOf.get(first) === main) continue;
    const known = found.get(next) ?? { first, shared: [] };
    known.shared.push(application);
    found.set(next, known);
  }
  return Array.from(found, ([entry, { first, shared }]) => {
    const [one] = shared;
    const which = one?.name === '' ? `id=${one.id}` : `"${one?.name}"`;
    const several = `${countOf(shared.length, 'application')}, such as ${which}`;
    return {
      entry,
      message: `${selectorText(entry.selector)} also selects ${shared.length === 1 ? which : several}, which ${selectorText(first.selector)} of ${fileOf.get(first)} selects before it`,
      remedy: 'while that file is broken, this entry has it: select it in one file only',
    };
  });
}

/** The applications that entries name, without asking New Relic. */
export function namedApplications(entries: readonly AppEntry[]): readonly Application[] {
  return entries.flatMap(({ selector }) => {
    if (selector.kind === 'match') return [];
    const named =
      selector.kind === 'id' ? { id: selector.id, name: '' } : { id: '', name: selector.name };
    return bareApplication(named);
  });
}
