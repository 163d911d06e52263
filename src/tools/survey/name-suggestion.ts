import { loadPatternCompiler } from '../../config/patterns.ts';
import { closest } from '../../config/suggestion.ts';
import type { Application } from '../../model/application.ts';
import type { Selector } from '../../model/config.ts';
import { countOf, printable } from '../../model/shown-text.ts';

/** Nobody would read a suggestion that names more. */
const mostNamed = 3;

type Named = Pick<Application, 'id' | 'name'>;

function quoted(applications: readonly Named[]): string {
  const namesakes = new Set(
    applications.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) !== at),
  );
  const names = applications
    .slice(0, mostNamed)
    .map(({ id, name }) => `"${printable(name)}"${namesakes.has(name) ? ` (id ${id})` : ''}`);
  const more = applications.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function nearNames(name: string, applications: readonly Named[]): string | undefined {
  const lower = name.trim().toLowerCase();
  const alike = applications.filter((one) => one.name.trim().toLowerCase() === lower);
  const near = closest(
    name,
    applications.map((one) => one.name),
  );
  if (alike.length > 0 || near !== undefined) {
    const names = alike.length > 0 ? quoted(alike) : `"${printable(near ?? '')}"`;
    return `did you mean ${names}?`;
  }
  const within = applications.filter((one) => {
    const other = one.name.toLowerCase();
    return other !== '' && (other.includes(lower) || lower.includes(other));
  });
  return within.length === 0 ? undefined : `did you mean ${quoted(within)}?`;
}

async function ignoringCase(
  source: string,
  applications: readonly Named[],
): Promise<string | undefined> {
  if (source.startsWith('(?i)')) return undefined;
  const pattern = (await loadPatternCompiler())(`(?i)${source}`);
  const found = applications.filter(({ name }) => pattern.test(name));
  if (found.length === 0) return undefined;
  return `ignoring case it matches ${quoted(found)}: write ${JSON.stringify(`(?i)${source}`)}`;
}

/** What may be meant by an entry that matches none of the applications. */
export async function suggestionFor(
  selector: Selector,
  applications: readonly Named[],
): Promise<string> {
  const listed = countOf(applications.length, 'application');
  const has =
    applications.length === 0
      ? 'the key sees no application: with "source: rest" it sees the account in which it was created alone; is it the right one?'
      : `the account has ${listed}: newrelic-exporter discover lists them`;
  switch (selector.kind) {
    case 'name':
      return nearNames(selector.name, applications) ?? has;
    case 'match':
      return (await ignoringCase(selector.pattern.source, applications)) ?? has;
    case 'id': {
      const named = applications.filter(({ name }) => name === selector.id);
      if (named.length > 0) return `an application has that name: write name: "${selector.id}"`;
      return 'correct it, or use a key of the account that has the application';
    }
  }
}
