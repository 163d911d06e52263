import type { ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import { wantedHostNames, withNamedHosts } from '../../model/selected-application.ts';
import { countOf, printable } from '../../model/shown-text.ts';
import type { Logger } from '../../model/telemetry.ts';
import {
  askedAfterQuery,
  isUnauthorized,
  neverAsked,
  seeksAny,
} from '../../poll/discovery-state.ts';
import { budgetText, remedyTexts } from '../plan/plan-text.ts';
import { withAccounts } from '../survey/ask.ts';
import { planCalls } from '../survey/call-plan.ts';
import {
  type DiscoveredAccount,
  discovered,
  metricCallsOf,
  samplesOf,
  withHosts,
} from '../survey/discovered-account.ts';
import type { CheckedConfig, Finding } from '../survey/finding.ts';
import { planInputOf } from '../survey/make-plan.ts';
import { otherRegionFindings } from '../survey/other-regions.ts';
import {
  accountIdFinding,
  askVisibleAccounts,
  type VisibleAccounts,
} from '../survey/visible-accounts.ts';
import { entryFindings } from './check-entries.ts';
import { sampleFindings } from './check-metrics.ts';
import { queryFindings } from './check-queries.ts';

/** Tries at New Relic what the configuration says: keys, entries, one call for values, the budget. */
export async function onlineFindings(
  checked: CheckedConfig,
  platform: ToolPlatform,
): Promise<readonly Finding[]> {
  const logged: Finding[] = [];
  const logger = findingLogger((finding) => logged.push(finding));
  const found = await withAccounts(
    accountsInUse(checked.config),
    platform,
    async (accounts) =>
      Promise.all(accounts.map(async (open) => accountFindings(await discovered(open), checked))),
    { logger },
  );
  return [...found.flat(), ...logged];
}

const ignore = (): void => undefined;

/** Makes findings of what would otherwise be lines of a log between them. */
function findingLogger(add: (finding: Finding) => void): Logger {
  const warn: Logger['warn'] = ({ account, accounts, remedy, error }, message) => {
    const of = typeof accounts === 'string' ? `: ${accounts}` : '';
    const why = error instanceof Error ? error.message : remedy;
    add({
      severity: 'warning',
      account: typeof account === 'string' ? account : undefined,
      message: printable(message + of),
      remedy: typeof why === 'string' ? why : undefined,
    });
  };
  return { debug: ignore, info: ignore, warn, error: warn };
}

/** Each list of metrics may have misspelt ones. */
const mostSamples = 5;

async function accountFindings(
  found: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  const { open, discovery, failure } = found;
  const account = open.account.name;
  // A key that the REST API refuses need not be tried again.
  const isKnown = discovery.complete || open.account.source.kind === 'nerdgraph';
  const visible = isKnown ? await askVisibleAccounts(open) : undefined;
  const ids = accountIdFinding(open.account, visible);
  const regional = await regionFindings(found, visible, checked);
  if (!discovery.complete) {
    const message = `discovery failed: ${failure}`;
    const ofQueries = await queryFindings(found, checked);
    return [{ severity: 'error', account, message }, ...ids, ...ofQueries, ...regional];
  }
  const hosts = await hostFindings(found);
  const ofQueries = await queryFindings(found, checked);
  const samples = await samplesOf(found, mostSamples);
  const ofSamples: Finding[] = [];
  for (const one of samples) ofSamples.push(...(await sampleFindings(open, one, checked)));
  const metricCalls = metricCallsOf(open, samples);
  return [
    ...acceptedFindings(found),
    ...ids,
    ...(await entryFindings(found, checked)),
    ...hosts,
    ...ofSamples,
    ...ofQueries,
    ...(metricCalls === undefined
      ? []
      : [{ severity: 'ok', account, message: metricCalls } as const]),
    ...(failure === undefined ? [await budgetFinding(found)] : []),
    ...regional,
  ];
}

/** What the key gives access to; nothing if nobody has answered it. */
function acceptedFindings(found: DiscoveredAccount): readonly Finding[] {
  const { open, discovery, selected, excluded, answers } = found;
  const account = open.account.name;
  if (seeksAny(open.entries)) {
    const listed = countOf(discovery.applications.length, 'application');
    const left = excluded.length === 0 ? '' : `, ${excluded.length} excluded`;
    const message = `key accepted, ${listed} found, ${selected.length} chosen${left}`;
    return [{ severity: 'ok', account, message }];
  }
  if (!answers.some(({ outcome }) => askedAfterQuery(neverAsked, outcome, 0).up === true))
    return [];
  const message = `key accepted, ${countOf(answers.length, 'query', 'queries')}`;
  return [{ severity: 'ok', account, message }];
}

/** The host of this process is looked for in this many applications, one after the other. */
const mostLookUps = 10;

/**
 * The applications that lack the host of this process, which their entry wants. Not an error: the check may
 * run on another host, or before the agent has started.
 */
async function hostFindings({ open, selected }: DiscoveredAccount): Promise<readonly Finding[]> {
  const account = open.account.name;
  const findings: Finding[] = [];
  const wanting = selected.filter((one) => wantedHostNames(one) !== undefined);
  for (const { application, entry } of wanting.slice(0, mostLookUps)) {
    const wanted = wantedHostNames({ application, entry });
    const { names, error } = await open.hostNames(application.id, wanted);
    const anyHosts = { application: { ...application, hostIds: undefined }, entry };
    if ((withNamedHosts(anyHosts, names).namedHostIds ?? []).length > 0) continue;
    const host = `host ${(wanted ?? []).map((name) => JSON.stringify(name)).join(' or ')}`;
    if (error === undefined) {
      const message = `application ${application.id} has no ${host} yet, which hosts: self asks for`;
      const remedy =
        'it appears some minutes after its agent has started; --host-name gives another name';
      findings.push({ severity: 'warning', account, message, remedy });
    } else {
      const message = `application ${application.id}: the ${host} could not be looked for`;
      findings.push({ severity: 'error', account, message, remedy: open.redacted(error.message) });
    }
  }
  return findings;
}

async function budgetFinding(found: DiscoveredAccount): Promise<Finding> {
  const account = found.open.account.name;
  const plan = planCalls(planInputOf(found, await withHosts(found)));
  const text = budgetText(plan);
  if (plan.fits) return { severity: 'ok', account, message: `polling ${text}` };
  const remedy = remedyTexts(plan).join(' ');
  return {
    severity: 'warning',
    account,
    message: `polling ${text}, so polls will be late`,
    remedy,
  };
}

/** Where the account is, if its own region does not know the key. */
async function regionFindings(
  { open: { account, platform }, discovery, answers }: DiscoveredAccount,
  visible: VisibleAccounts | undefined,
  { config, file }: CheckedConfig,
): Promise<readonly Finding[]> {
  const errors = [discovery.error, ...answers.map(({ outcome }) => outcome.error)];
  const isKnown = visible !== undefined && visible.failure === undefined;
  if (isKnown || !errors.some(isUnauthorized)) return [];
  const findings = await otherRegionFindings(account, platform);
  const index = config.accounts.findIndex(({ name }) => name === account.name);
  const span = file.at('accounts', index, 'region') ?? file.at('accounts', index, 'name');
  const place = file.placeOf(span);
  return findings.map((one) => (one.severity === 'error' ? { ...one, place } : one));
}
