import type { OutputFormat } from '../../cli/commands.ts';
import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { inOrder } from '../../config/read-file.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import type { Application } from '../../model/application.ts';
import { cutText, printable } from '../../model/shown-text.ts';
import { everyTag } from '../../newrelic/nerdgraph/entity-page.ts';
import { loadOrUsual, type OpenAccount, withAccounts } from '../survey/ask.ts';
import { type EntityType, findEntities, typeName } from '../survey/golden-metrics.ts';
import { noApplicationText } from '../survey/name-suggestion.ts';
import { aligned } from '../survey/plain-text.ts';
import { selectApplications } from '../survey/selection.ts';
import { goldenQueriesYaml } from './golden-queries.ts';

/**
 * Prints all applications of the accounts with entries, whether an entry chooses them or not, or other entities.
 * Ends with 1 if an account could not be discovered; the part that was found is still printed.
 */
export async function discover(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  if (flags.entities !== '') return entities(flags, platform);
  const config = await loadOrUsual(flags.configFile, platform);
  const all = await withAccounts(accountsInUse(config), platform, async (accounts) =>
    Promise.all(accounts.map(listed)),
  );
  const failures = all.flatMap(({ failure }) => failure ?? []);
  for (const text of all.flatMap(({ failure, note }) => failure ?? note ?? [])) {
    platform.stderr.write(text);
  }
  const applications = all.flatMap((one) => one.applications);
  // A bare header or an empty list would look like an account without applications.
  const isNothing = applications.length === 0 && failures.length > 0;
  const output = isNothing ? '' : listText(applications, flags.output);
  return { exitCode: failures.length === 0 ? 0 : 1, output };
}

/** What `--entities` is without a type. */
const everyType = 'all';

/** Prints which types of entities report, or the golden metrics of one; ends with 2 if there is no such type. */
async function entities(
  { entities: type, configFile, output: format }: Flags,
  platform: ToolPlatform,
): Promise<Outcome> {
  if (type === everyType && format === 'yaml') {
    throw new CommandError(2, '--output=yaml needs a type, such as --entities=SYNTH-MONITOR');
  }
  const config = await loadOrUsual(configFile, platform);
  const wanted = type.toUpperCase();
  const { types, golden, isWhole } = await findEntities(accountsInUse(config), wanted, platform);
  const exitCode = isWhole ? 0 : 1;
  const found = type === everyType ? types : golden;
  if (found.length === 0 && !isWhole) return { exitCode, output: '' };
  if (found.length === 0 && type !== everyType) throw noSuchType(type, types);
  if (format === 'json') {
    return { exitCode, output: `${JSON.stringify(found, undefined, 2)}\n` };
  }
  if (type === everyType) return { exitCode, output: typesText(types) };
  return { exitCode, output: await goldenQueriesYaml(wanted, golden, config.accounts.length > 1) };
}

function noSuchType(wanted: string, types: readonly EntityType[]): CommandError {
  const names = [...new Set(types.map(typeName).map(printable))];
  const what = `--entities: no entity of the type ${JSON.stringify(wanted)} reports`;
  return new CommandError(2, `${what}: there are: ${names.join(', ') || 'none'}`);
}

function typesText(types: readonly EntityType[]): string {
  const rows = types.map((one) =>
    [one.account, one.domain, one.type, `${one.reporting}`, typeName(one)].map(printable),
  );
  const header = ['account', 'domain', 'type', 'reporting', '--entities'];
  return `${aligned([header, ...rows], ['left', 'left', 'left', 'right']).join('\n')}\n`;
}

interface Listed {
  readonly applications: readonly ListedApplication[];
  /** A line; `undefined` if the list is complete. */
  readonly failure: string | undefined;
  /** A line on a list that is complete, and empty. */
  readonly note: string | undefined;
}

async function listed(open: OpenAccount): Promise<Listed> {
  // Any selector will do: New Relic is asked for the whole list.
  const selectors = [{ kind: 'match', pattern: { source: '', test: () => true } }] as const;
  const { applications, complete, error } = await open.discover({ selectors, tags: [everyTag] });
  const account = open.account.name;
  const { excluded } = selectApplications(open.entries, applications);
  const excludedIds = new Set(excluded.map(({ application }) => application.id));
  const reason = open.redacted(error?.message ?? 'no answer');
  return {
    applications: applications.map(({ id, name, language, reporting, tags, ...hosts }) => ({
      account,
      id,
      name,
      language,
      reporting,
      hosts: hosts.hostIds?.length ?? hosts.hostCount,
      excluded: excludedIds.has(id),
      tags,
    })),
    failure: complete ? undefined : `account ${account}: discovery failed: ${reason}\n`,
    note:
      applications.length > 0
        ? undefined
        : `account ${account}: ${noApplicationText(open.account.source)}\n`,
  };
}

/** An application of an account; `undefined` if New Relic does not give the value. */
interface ListedApplication
  extends Pick<Application, 'id' | 'name' | 'language' | 'reporting' | 'tags'> {
  readonly account: string;
  readonly hosts: number | undefined;
  /** Whether an entry with `exclude: true` selects it. */
  readonly excluded: boolean;
}

const unknown = '-';

/** As a table, as JSON, or as YAML that can be pasted into the configuration. Sorted by name. */
function listText(applications: readonly ListedApplication[], format: OutputFormat): string {
  const sorted = applications.toSorted(
    (left, right) => inOrder(left.account, right.account) || inOrder(left.name, right.name),
  );
  switch (format) {
    case 'json':
      return `${JSON.stringify(sorted, undefined, 2)}\n`;
    case 'yaml':
      return yamlOf(sorted);
    case 'text':
      return tableOf(sorted);
  }
}

function tableOf(applications: readonly ListedApplication[]): string {
  const isTagged = applications.some(({ tags }) => tags !== undefined);
  const rows = applications.map(({ account, id, name, language, reporting, hosts, tags }) => [
    account,
    id,
    language ?? unknown,
    reportingText(reporting),
    `${hosts ?? unknown}`,
    ...(isTagged ? [tagsText(tags)] : []),
    printable(name),
  ]);
  const tags = isTagged ? ['tags'] : [];
  const header = ['account', 'id', 'language', 'reporting', 'hosts', ...tags, 'name'];
  const lines = aligned([header, ...rows], ['left', 'right', 'left', 'left', 'right']);
  return `${lines.join('\n')}\n`;
}

/** New Relic gives them to each application, so that a table with them would tell little. */
const usualTags = /^(?:account|accountId|language|trustedAccountId|nr[._].*)$/u;

const tagsShown = 3;
const longestTag = 24;

/** The names of some tags. */
function tagsText(tags: ListedApplication['tags'] = {}): string {
  const names = Object.keys(tags).filter((name) => !usualTags.test(name));
  const shown = names.toSorted(inOrder).slice(0, tagsShown);
  const more = names.length - shown.length;
  const texts = shown.map((name) => printable(cutText(name, longestTag)));
  return [...texts, ...(more > 0 ? [`${more} more`] : [])].join(', ') || unknown;
}

function yamlOf(applications: readonly ListedApplication[]): string {
  if (applications.length === 0) return 'apps: []\n';
  const isShared = new Set(applications.map(({ account }) => account)).size > 1;
  const entries = applications.flatMap(({ account, id, name, reporting, excluded }) => [
    `  ${excluded ? '# ' : ''}- id: ${id} # ${printable(name)}${reporting === false ? ', not reporting' : ''}${excluded ? ', excluded' : ''}`,
    ...(isShared && !excluded ? [`    account: ${JSON.stringify(account)}`] : []),
  ]);
  return `${['apps:', ...entries].join('\n')}\n`;
}

function reportingText(reporting: boolean | undefined): string {
  if (reporting === undefined) return unknown;
  return reporting ? 'yes' : 'no';
}
