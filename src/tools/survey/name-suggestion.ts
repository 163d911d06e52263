import { loadPatternCompiler } from '../../config/patterns.ts';
import { closest } from '../../config/suggestion.ts';
import type { Application } from '../../model/application.ts';
import type { AccountSource, Selector } from '../../model/config.ts';
import { countOf, printable } from '../../model/shown-text.ts';

/** Nobody would read a suggestion that names more. */
const mostNamed = 3;

type Named = Pick<Application, 'id' | 'name'>;

function quoted(applications: readonly Named[]): string {
  const names = applications.slice(0, mostNamed).map(({ id, name }) => {
    const isAlone = applications.filter((one) => one.name === name).length === 1;
    return `"${printable(name)}"${isAlone ? '' : ` (id ${id})`}`;
  });
  const more = applications.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function nearNames(name: string, applications: readonly Named[]): string | undefined {
  const lower = name.trim().toLowerCase();
  const lowerOf = (one: Named): string => one.name.trim().toLowerCase();
  const near = closest(
    name,
    applications.map((one) => one.name),
  );
  const kinds = [
    (one: Named) => lowerOf(one) === lower,
    (one: Named) => one.name === near,
    (one: Named) =>
      lowerOf(one) !== '' && (lowerOf(one).includes(lower) || lower.includes(lowerOf(one))),
  ];
  const meant = kinds.map((isMeant) => applications.filter(isMeant)).find(({ length }) => length);
  return meant && `did you mean ${quoted(meant)}?`;
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

const discover = 'newrelic-exporter discover lists';

/** What it means that an account has no application. */
export function noApplicationText({ kind, accountId }: AccountSource): string {
  return kind === 'rest'
    ? 'the key sees no application: with "source: rest" it sees the account in which it was created alone; is it the right one?'
    : `the key sees no application in the account ${accountId}; is account_id right?`;
}

/**
 * What may be meant by an entry that matches none of the applications.
 *
 * @param applications with NerdGraph only those of the wanted names, unless a pattern is wanted, too
 */
export async function suggestionFor(
  selector: Selector,
  applications: readonly Named[],
  source: AccountSource,
): Promise<string> {
  const isUnlisted = source.kind === 'nerdgraph' && selector.kind === 'name';
  const listed = countOf(applications.length, 'application');
  const none = isUnlisted ? `${discover} all of them` : noApplicationText(source);
  const has = applications.length === 0 ? none : `the account has ${listed}: ${discover} them`;
  switch (selector.kind) {
    case 'name':
      return nearNames(selector.name, applications) ?? has;
    case 'match':
      return (await ignoringCase(selector.pattern.source, applications)) ?? has;
    case 'id': {
      const isName = applications.some(({ name }) => name === selector.id);
      return isName
        ? `an application has that name: write name: "${selector.id}"`
        : 'correct it, or use a key of the account that has the application';
    }
  }
}
