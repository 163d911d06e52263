import { mostShown } from '../../config/diagnostic.ts';
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
  const byFile = new Map<string, AppEntry[]>();
  for (const entry of entries) {
    const name = file.at('apps', config.apps.indexOf(entry))?.file.fileName ?? main;
    byFile.set(name, [...(byFile.get(name) ?? []), entry]);
  }
  if (byFile.size < 2) return [];
  const files = Array.from(
    byFile,
    ([name, own]) => [name, createApplicationSelector(own)] as const,
  );
  const found = new Map<AppEntry, { name: string; first: AppEntry; shared: Application[] }>();
  for (const application of applications) {
    const takers = files.flatMap(([name, selector]) => {
      const entry = selector.entryOf(application);
      return entry === undefined ? [] : [{ name, entry }];
    });
    const [first, next] = takers;
    if (first === undefined || next === undefined || first.name === main) continue;
    const known = found.get(next.entry) ?? { name: first.name, first: first.entry, shared: [] };
    known.shared.push(application);
    found.set(next.entry, known);
  }
  return Array.from(found, ([entry, { name, first, shared }]) => {
    const [one] = shared;
    const which = one?.name === '' ? `id=${one.id}` : `"${one?.name}"`;
    const what =
      shared.length === 1 ? which : `${countOf(shared.length, 'application')}, such as ${which}`;
    return {
      entry,
      message: `${selectorText(entry.selector)} also selects ${what}, which ${selectorText(first.selector)} of ${name} selects before it`,
      remedy: 'while that file is broken, this entry has it: select it in one file only',
    };
  }).slice(0, mostShown);
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
