import { didYouMean } from '../../config/suggestion.ts';
import type { ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import type { AppEntry } from '../../model/config.ts';
import { wantedHostNames, withNamedHosts } from '../../model/selected-application.ts';
import { createApplicationSelector, selectorText } from '../../model/selector.ts';
import { countOf, printable } from '../../model/shown-text.ts';
import {
  askedAfterQuery,
  isUnauthorized,
  neverAsked,
  seeksAny,
} from '../../poll/discovery-state.ts';
import { noLog, type OpenAccount, problemsOfAll, withAccounts } from '../survey/ask.ts';
import {
  budgetText,
  type CallPlan,
  planCalls,
  planInputOf,
  remedyTexts,
} from '../survey/call-plan.ts';
import {
  type DiscoveredAccount,
  discovered,
  isPending,
  metricCallsOf,
  problemsFound,
  type Sample,
  samplesOf,
  withHosts,
} from '../survey/discovered-account.ts';
import { type CheckedConfig, type Finding, findingOf } from '../survey/finding.ts';
import { suggestionFor } from '../survey/name-suggestion.ts';
import { pendingText } from '../survey/plain-text.ts';
import {
  accountIdFinding,
  askVisibleAccounts,
  otherRegionFindings,
  type VisibleAccounts,
} from '../survey/visible-accounts.ts';
import { sampleFindings } from './check-metrics.ts';
import { placeOfQuery, queryFindings } from './check-queries.ts';
import { sharedApplications } from './shared-applications.ts';

/** Tries at New Relic what the configuration says: keys, entries, one call for values, the budget. */
export async function onlineFindings(
  checked: CheckedConfig,
  platform: ToolPlatform,
): Promise<readonly Finding[]> {
  const check = async (open: OpenAccount): Promise<readonly Finding[]> => {
    const findings = await accountFindings(await discovered(open), checked);
    return findings.map((one) => ({ ...one, account: open.account.name }));
  };
  return withAccounts(
    accountsInUse(checked.config),
    platform,
    async (accounts) => {
      const found = await Promise.all(accounts.map(check));
      return [...found.flat(), ...problemsOfAll(accounts).map((one) => findingOf(one))];
    },
    { logger: noLog },
  );
}

/** Each list of metrics may have misspelt ones. */
const mostSamples = 5;

async function accountFindings(
  found: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  const { open, discovery, failure } = found;
  // A key that the REST API refuses need not be tried again.
  const isKnown = discovery.complete || open.account.source.kind === 'nerdgraph';
  const visible = isKnown ? await askVisibleAccounts(open) : undefined;
  const ids = accountIdFinding(open.account, visible);
  const regional = await regionFindings(found, visible, checked);
  if (!discovery.complete) {
    const ofQueries = await queryFindings(found, checked);
    return [...(await problemFindings(found, checked)), ...ids, ...ofQueries, ...regional];
  }
  const hosts = await hostFindings(found);
  const ofQueries = await queryFindings(found, checked);
  const samples = await samplesOf(found, mostSamples);
  const ofSamples: Finding[] = [];
  for (const one of samples) ofSamples.push(...(await sampleFindings(open, one, checked)));
  const isPlanned = failure === undefined;
  const plan = isPlanned ? planCalls(planInputOf(found, await withHosts(found))) : undefined;
  const metricCalls = metricCallsOf(open, samples);
  const problems = await problemFindings(found, checked, samples, plan);
  return [
    ...acceptedFindings(found),
    ...ids,
    ...problems,
    ...entryFindings(found, checked),
    ...hosts,
    ...ofSamples,
    ...ofQueries,
    ...(metricCalls === undefined ? [] : [{ severity: 'ok', message: metricCalls } as const]),
    ...(plan === undefined ? [] : [budgetFinding(plan, problems)]),
    ...regional,
  ];
}

/** With what would make it fit, unless a problem says so. */
function budgetFinding(plan: CallPlan, problems: readonly Finding[]): Finding {
  const message = `polling ${budgetText(plan)}`;
  if (plan.fits) return { severity: 'ok', message };
  const remedy = remedyTexts(plan).join(' ');
  const isTold = problems.some((one) => one.remedy === remedy);
  return { severity: 'note', message, ...(!isTold && { remedy }) };
}

/** What is wrong, in the words of the daemon, each at its places in the file and with what mends it there. */
async function problemFindings(
  found: DiscoveredAccount,
  checked: CheckedConfig,
  samples: readonly Sample[] = [],
  plan?: CallPlan,
): Promise<readonly Finding[]> {
  const placed = problemsFound(found, samples, plan).map(async (problem) => {
    const finding = findingOf(problem);
    const { selector, query, tag } = problem.subject ?? {};
    if (selector !== undefined) return unmatchedFinding(finding, selector, found, checked);
    if (tag !== undefined) return tagFindings(finding, tag, found, checked);
    const asked = found.answers.find((one) => one.query.name === query);
    const place = asked === undefined ? undefined : placeOfQuery(asked.query, checked);
    const isOfBudget = problem.kind === 'budget_too_small' || problem.kind === 'answers_slow';
    // Nothing is polled meanwhile.
    if (problem.kind === 'list_failing') return [{ ...finding, remedy: undefined }];
    const remedies = isOfBudget && plan !== undefined ? remedyTexts(plan) : [problem.remedy];
    return [{ ...finding, place, remedy: remedies.join(' ') }];
  });
  return (await Promise.all(placed)).flat();
}

async function unmatchedFinding(
  finding: Finding,
  selector: string,
  { open, missing, discovery }: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  const entry = missing.find((one) => selectorText(one.selector) === selector);
  if (entry === undefined) return [finding];
  const { applications } = discovery;
  const remedy = await suggestionFor(entry.selector, applications, open.account.source);
  return [{ ...finding, remedy, place: placeOfEntry(entry, checked) }];
}

/** A tag that nothing has, wherever it is wanted. */
function tagFindings(
  finding: Finding,
  tag: string,
  { open, selected, discovery }: DiscoveredAccount,
  { config, file }: CheckedConfig,
): readonly Finding[] {
  const users = new Set(selected.map(({ entry }) => entry));
  const known = [...new Set(discovery.applications.flatMap(({ tags = {} }) => Object.keys(tags)))];
  const near = known.includes(tag) ? undefined : didYouMean(tag, known);
  const remedy = near === undefined ? finding.remedy : printable(near);
  const spans = open.entries.flatMap((entry) => {
    const own = ['apps', config.apps.indexOf(entry), 'tags'];
    const path = file.at(...own) === undefined ? ['poll', 'tags'] : own;
    const index = Object.keys(entry.poll.tags ?? {}).indexOf(tag);
    return index === -1 || !users.has(entry)
      ? []
      : (file.at(...path, tag) ?? file.at(...path, index) ?? []);
  });
  const places = new Map(spans.map((span) => [span.start, file.placeOf(span)]));
  return Array.from(places.values(), (place) => ({ ...finding, remedy, place }));
}

/** What the key gives access to; nothing if nobody has answered it. */
function acceptedFindings(found: DiscoveredAccount): readonly Finding[] {
  const { open, discovery, selected, excluded, answers } = found;
  const isAnswered = answers.some(
    ({ outcome }) => askedAfterQuery(neverAsked, outcome, 0).up === true,
  );
  const left = excluded.length === 0 ? '' : `, ${excluded.length} excluded`;
  const listed = countOf(discovery.applications.length, 'application');
  const what = seeksAny(open.entries)
    ? `${listed} found, ${selected.length} chosen${left}`
    : isAnswered && countOf(answers.length, 'query', 'queries');
  return what === false ? [] : [{ severity: 'ok', message: `key accepted, ${what}` }];
}

/** What a complete discovery says about the entries of its account that is no problem of the daemon. */
function entryFindings(found: DiscoveredAccount, checked: CheckedConfig): readonly Finding[] {
  const { open, discovery } = found;
  const pending = discovery.pendingIds.length;
  const message = `not found so far: ${pendingText(pending)}`;
  const remedy = 'correct the entries named above, and check again';
  const shared = sharedApplications(open.entries, discovery.applications, checked)
    // The files alone have told.
    .filter(({ entry }) => checked.shared?.includes(entry) !== true)
    .map((one) => ({ severity: 'warning' as const, ...one }));
  return [
    ...(pending > 0 ? [{ severity: 'error', message, remedy } as const] : []),
    ...[...uselessEntries(found, checked), ...shared].map(({ entry, ...what }) => {
      return { ...what, place: placeOfEntry(entry, checked) };
    }),
  ];
}

function placeOfEntry(entry: AppEntry, { config, file }: CheckedConfig): Finding['place'] {
  return file.placeOf(file.at('apps', config.apps.indexOf(entry), entry.selector.kind));
}

/** Entries that choose nothing: earlier ones have taken all of it, or they exclude what is not there. */
function uselessEntries(
  { open, selected, excluded, missing, discovery }: DiscoveredAccount,
  { config, file }: CheckedConfig,
): readonly (Finding & { readonly entry: AppEntry })[] {
  const takers = new Map(
    [...selected, ...excluded].map(({ application, entry }) => [application.id, entry]),
  );
  const inUse = new Set([...takers.values(), ...missing]);
  const told = new Set(file.warnings.map(({ span }) => span?.start));
  const useless = open.entries.filter((entry) => {
    const span = file.at('apps', config.apps.indexOf(entry), entry.selector.kind);
    const isUnknown = isPending(entry, discovery.pendingIds);
    return !inUse.has(entry) && !isUnknown && !told.has(span?.start);
  });
  return useless.map((entry) => {
    const text = selectorText(entry.selector);
    const selector = createApplicationSelector([entry]);
    const own = discovery.applications.filter((one) => selector.entryOf(one) === entry);
    const taker = takers.get(own[0]?.id ?? '');
    if (taker === undefined) {
      const message = `${text} matches nothing at the moment, so it excludes nothing`;
      const remedy = 'newrelic-exporter discover lists the applications of the account';
      return { entry, severity: 'note', message, remedy };
    }
    const whose =
      own.length === 1 ? 'its application belongs' : `its ${own.length} applications belong`;
    const message = `${text} has no effect: ${whose} to entries before it, such as ${selectorText(taker.selector)}`;
    const remedy = 'put it before that entry, or remove it';
    return { entry, severity: 'warning', message, remedy };
  });
}

/** The host of this process is looked for in this many applications, one after the other. */
const mostLookUps = 10;
const notYet =
  'it appears some minutes after its agent has started; --host-name gives another name';

/**
 * The applications that lack the host of this process, which their entry wants. Not an error: the check may
 * run on another host, or before the agent has started.
 */
async function hostFindings({ open, selected }: DiscoveredAccount): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const wanting = selected.filter((one) => wantedHostNames(one) !== undefined);
  for (const { application, entry } of wanting.slice(0, mostLookUps)) {
    const wanted = wantedHostNames({ application, entry });
    const { names, error } = await open.hostNames(application.id, wanted);
    const anyHosts = { application: { ...application, hostIds: undefined }, entry };
    if ((withNamedHosts(anyHosts, names).namedHostIds ?? []).length > 0) continue;
    const host = `host ${(wanted ?? []).map((name) => JSON.stringify(name)).join(' or ')}`;
    const subject = `application ${application.id}`;
    const lacks = `${subject} has no ${host} yet, which hosts: self asks for`;
    const failed = `${subject}: the ${host} could not be looked for`;
    findings.push(
      error === undefined
        ? { severity: 'warning', message: lacks, remedy: notYet }
        : { severity: 'error', message: failed, remedy: open.redacted(error.message) },
    );
  }
  return findings;
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
