import { type Flags, flagTable } from '../../cli/flag-table.ts';
import { environmentVariableOf } from '../../cli/flags.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { readConfigFile } from '../../config/config-file.ts';
import {
  ConfigError,
  type Diagnostic,
  diagnosticsOf,
  renderDiagnostic,
  warningAt,
} from '../../config/diagnostic.ts';
import { type InspectedConfig, inspectConfig } from '../../config/load-config.ts';
import { missingAccountId } from '../../config/rules.ts';
import { closest } from '../../config/suggestion.ts';
import { mapsUnder, type PlainMap, textAt } from '../../config/yaml-document.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import type { AccountConfig, Config } from '../../model/config.ts';
import { countOf } from '../../model/shown-text.ts';
import { endOfRestAt } from '../../newrelic/rest/end-of-rest.ts';
import { loadWebConfig } from '../../web/config/load-web-config.ts';
import {
  type CheckedConfig,
  type Finding,
  findingsText,
  type Severity,
} from '../survey/finding.ts';
import { proposalOf, visibleAccountsOf } from '../survey/visible-accounts.ts';
import { onlineFindings } from './check-online.ts';
import { namedFileProblems } from './named-files.ts';
import { namedApplications, sharedApplications } from './shared-applications.ts';

/** What messages say of this command, in parentheses: who has asked for it need not be told. */
const ownAdvice = / \("newrelic-exporter check-config --online" [^)]*\)/gu;

/**
 * Checks the file, and the key and CA files that it names; with `--online` also keys, entries and more at
 * New Relic. Ends with 2 if the file or a file that it names has errors, and with 1 if New Relic refuses
 * a key, an entry matches nothing, or anything else that was asked for failed. Only if ids of accounts are
 * missing in the file, `--online` proposes them.
 */
export async function checkConfig(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const file = await checkFile(flags.configFile, platform);
  const web = await checkWebConfig(flags.webConfigFile, platform);
  const isWebGood = flags.webConfigFile === '' || web.verdict !== '';
  const { redactor, stderr } = platform;
  const shown = (text: string): string =>
    redactor.redact(flags.online ? text.replaceAll(ownAdvice, '') : text);
  if (file.good === undefined || !isWebGood) {
    const proposals = flags.online ? await proposedIds(file.withoutId, platform) : '';
    const message = allOf(file.diagnostics) + proposals + allOf(web.diagnostics);
    throw new CommandError(2, shown(message.trimEnd()));
  }
  const { config } = file.good;
  const rest = endOfRest(config, platform);
  const online = flags.online ? await onlineFindings(file.good, platform) : [];
  const all = [...fileFindings([...file.diagnostics, ...web.diagnostics]), ...rest, ...online];
  const isUrgent = rest.some(({ severity }) => severity === 'warning');
  const count = (severity: Severity): number =>
    online.filter((one) => one.severity === severity).length;
  const warned = file.diagnostics.length + (isUrgent ? rest.length : 0) + count('warning');
  const verdict =
    count('error') === 0 ? `ok, ${countsOf(config)}` : countOf(count('error'), 'error');
  const end = `${flags.configFile}: ${verdict}, ${countOf(warned, 'warning')}\n`;
  const output = (text: string): Outcome => ({
    exitCode: count('error') === 0 ? 0 : 1,
    output: shown(text),
  });
  if (flags.online) return output(`${findingsText(all)}${web.verdict}${end}`);
  const lines = rest.map((one) => `${flags.configFile}: ${lineOf(one)}\n`).join('');
  stderr.write(allOf(file.diagnostics) + (isUrgent ? lines : '') + allOf(web.diagnostics));
  return output(`${end}${isUrgent ? '' : lines}${web.verdict}`);
}

function lineOf({ account, severity, message, remedy }: Finding): string {
  const subject = account === undefined ? '' : `account ${account}: `;
  return `${severity}: ${subject}${message}: ${remedy}`;
}

/** For accounts that lack nothing but an id, what to write. */
async function proposedIds(
  withoutId: readonly AccountConfig[],
  platform: ToolPlatform,
): Promise<string> {
  const proposals = await Promise.all(
    withoutId.map(async (account) => proposalOf(await visibleAccountsOf(account, platform))),
  );
  return proposals.map((text, index) => `account ${withoutId[index]?.name}: ${text}\n`).join('');
}

/** Every diagnostic in full, with a line feed behind it. */
function allOf(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((one) => `${renderDiagnostic(one)}\n`).join('');
}

function fileFindings(diagnostics: readonly Diagnostic[]): readonly Finding[] {
  return diagnostics.map((diagnostic) => {
    const { severity, message, help: remedy } = diagnostic;
    return { severity, message, remedy, place: diagnostic };
  });
}

/** A note on the accounts with the REST API v2, and later a warning. */
function endOfRest(config: Config, { clock }: ToolPlatform): readonly Finding[] {
  const { isUrgent, message, remedy } = endOfRestAt(clock.wallMs());
  const [account, ...others] = accountsInUse(config)
    .filter((inUse) => inUse.account.source.kind === 'rest')
    .map((inUse) => inUse.account.name);
  if (account === undefined) return [];
  const severity = isUrgent ? 'warning' : 'note';
  if (others.length === 0) return [{ severity, account, message, remedy }];
  const accounts = [account, ...others].join(', ');
  return [{ severity, message: `accounts ${accounts}: ${message}`, remedy }];
}

function countsOf({ accounts, apps, queries = [], includedFiles = [] }: Config): string {
  const isQueried = queries.length > 0;
  return [
    ...(includedFiles.length > 0 ? [countOf(includedFiles.length, 'included file')] : []),
    countOf(accounts.length, 'account'),
    ...(apps.length === 0 && isQueried
      ? []
      : [`${countOf(apps.length, 'entry', 'entries')} of apps`]),
    ...(isQueried ? [countOf(queries.length, 'query', 'queries')] : []),
  ].join(', ');
}

/** What a check of the configuration file, and of the files that it names, has found. */
interface CheckedFile {
  /** In the order of the file. */
  readonly diagnostics: readonly Diagnostic[];
  /** The configuration, if there are no errors. */
  readonly good: CheckedConfig | undefined;
  /** If nothing is wrong but that accounts with NerdGraph have no id: these accounts. */
  readonly withoutId: readonly AccountConfig[];
}

const absent = 'create it, or name another one, here or with --config.file';

/** Checks the file and everything that it names, so that all mistakes come to light in one run. */
async function checkFile(path: string, platform: ToolPlatform): Promise<CheckedFile> {
  let file: InspectedConfig;
  let directory: string;
  try {
    const { text, ...source } = await readConfigFile(path, platform, undefined, absent);
    file = await inspectConfig(text, source, platform);
    directory = source.directory;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const diagnostics = [...error.diagnostics, ...unreadVariables(platform.env, undefined)];
    return { diagnostics, good: undefined, withoutId: [] };
  }
  const named = await namedFileProblems(file, directory, platform);
  const shared = sharedIn(file);
  const odd = shared.map(({ entry, message, remedy }) => {
    const index = file.config?.apps.indexOf(entry) ?? -1;
    return warningAt(file.at('apps', index, entry.selector.kind), message, remedy);
  });
  const diagnostics = [
    ...file.diagnose([...file.errors, ...file.warnings, ...named, ...odd]),
    ...unreadVariables(platform.env, file.written),
  ];
  const isRefused = diagnostics.some(({ severity }) => severity === 'error');
  const { config } = file;
  const entries = shared.map(({ entry }) => entry);
  const good = config === undefined || isRefused ? undefined : { config, file, shared: entries };
  return { diagnostics, good, withoutId: accountsWithoutId(file) };
}

/** What entries of two files select, as far as they name it. */
function sharedIn(file: InspectedConfig): ReturnType<typeof sharedApplications> {
  const { config } = file;
  if (config === undefined) return [];
  return accountsInUse(config).flatMap(({ entries }) =>
    sharedApplications(entries, namedApplications(entries), { config, file }),
  );
}

const prefix = 'NEWRELIC_EXPORTER_';
/** What Kubernetes sets in a pod for each service beside it. */
const ofService = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)_\w+$/u;

/** Variables that look like those of flags. The daemon does not mind them: they may be another program's. */
function unreadVariables(
  env: ToolPlatform['env'],
  written: PlainMap | undefined,
): readonly Diagnostic[] {
  const accounts = mapsUnder(written, 'accounts');
  const read = [
    ...Object.values(flagTable).map(environmentVariableOf),
    `${prefix}REVISION`,
    ...['api_key_env', 'proxy_url_env'].flatMap((key) =>
      accounts.map((account) => textAt(account, key)?.text),
    ),
  ];
  const words = read.flatMap((name) => name?.split(prefix)[1] ?? []);
  const unread = Object.entries(env).filter(([name, value = '']) => {
    const isOfService = ofService.test(name) || /^(?:tcp|udp|sctp):/u.test(value);
    return name.startsWith(prefix) && !read.includes(name) && !isOfService;
  });
  const problems = unread.flatMap(([name]) => {
    const near = closest(name.slice(prefix.length), words);
    // It may have the key of an account, if the file cannot be read.
    if (near === undefined && written === undefined) return [];
    const help =
      near === undefined
        ? 'serve --help names those that are read'
        : `did you mean ${prefix}${near}?`;
    return [warningAt(undefined, `nothing reads the variable ${name}`, help)];
  });
  return diagnosticsOf('environment', problems);
}

function accountsWithoutId({ config, errors, written }: InspectedConfig): readonly AccountConfig[] {
  if (config === undefined || !errors.every(({ message }) => message === missingAccountId))
    return [];
  const maps = mapsUnder(written, 'accounts');
  return config.accounts.filter((_, index) => {
    const { map = {} } = maps[index] ?? {};
    return map['source'] === 'nerdgraph' && !Object.hasOwn(map, 'account_id');
  });
}

/** What a check of the web configuration file has found. */
interface CheckedWebConfig {
  readonly diagnostics: readonly Diagnostic[];
  /** What is good about it, on a line; empty if it has errors, or if there is no such file. */
  readonly verdict: string;
}

/** Checks the web configuration file, if one is named, and the certificates that it names. */
async function checkWebConfig(path: string, platform: ToolPlatform): Promise<CheckedWebConfig> {
  if (path === '') return { diagnostics: [], verdict: '' };
  try {
    const { config, warnings } = await loadWebConfig(path, platform);
    const tls = config.tls === undefined ? 'no TLS' : 'TLS';
    const users = countOf(config.users.size, 'user');
    const verdict = `${path}: ok, ${tls}, ${users}, ${countOf(warnings.length, 'warning')}\n`;
    return { diagnostics: warnings, verdict };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { diagnostics: error.diagnostics, verdict: '' };
  }
}
