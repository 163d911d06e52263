import { mostShown } from '../config/diagnostic.ts';
import type { InspectedConfig } from '../config/load-config.ts';
import { closest, didYouMean } from '../config/suggestion.ts';
import type { AppEntry, Config, Query } from '../model/config.ts';
import { isReadOf } from '../model/polled-series.ts';
import type { SelectedApplication } from '../model/selected-application.ts';
import { createApplicationSelector, selectorText } from '../model/selector.ts';
import { countOf, printable } from '../model/shown-text.ts';
import { type AppReading, applicationMetrics, type QueryReading } from '../model/snapshot.ts';
import { seeksAny } from '../poll/discovery-state.ts';
import { emptyTextOf, isAnswered } from '../poll/query-state.ts';
import { resultText } from '../web/status/queries.ts';
import {
  type DiscoveredAccount,
  type HostlessApplication,
  isPending,
  type Sample,
} from './account-discovery.ts';
import { type Finding, findingOf, type Severity } from './check-finding.ts';
import { draftsOfDiscovered, togetherOf } from './make-plan.ts';
import { suggestionFor } from './name-suggestion.ts';
import { budgetText, pendingText, remedyTexts } from './plan-text.ts';
import { isEmptyHanded, type QueryAnswer } from './query-answers.ts';
import { accountIdFinding } from './visible-accounts.ts';

/** The configuration, and the file that it comes from. */
export interface CheckedConfig {
  readonly config: Config;
  readonly file: Pick<InspectedConfig, 'at' | 'placeOf' | 'warnings'>;
}

type Add = (severity: Severity, message: string, remedy?: string) => Finding;

function entryFinding(
  entry: AppEntry,
  { config, file }: CheckedConfig,
  severity: Severity,
  { message, remedy }: { readonly message: string; readonly remedy: string },
): Finding {
  const span = file.at('apps', config.apps.indexOf(entry), entry.selector.kind)?.span;
  const { account } = entry;
  return findingOf(severity, message, { account, remedy, place: file.placeOf(span) });
}

async function missingFindings(
  { missingEntries, discovery }: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  return Promise.all(
    missingEntries.slice(0, mostShown).map(async (entry) =>
      entryFinding(entry, checked, 'error', {
        message: `${selectorText(entry.selector)} matches nothing`,
        remedy: await suggestionFor(entry, discovery.applications),
      }),
    ),
  );
}

/** Entries that match applications, all of which earlier entries have taken. */
function shadowedFindings(
  { entries, selected, excluded, missingEntries, pendingIds, discovery }: DiscoveredAccount,
  checked: CheckedConfig,
): readonly Finding[] {
  const { config, file } = checked;
  const chosen = [...selected, ...excluded];
  const inUse = new Set(chosen.map(({ entry }) => entry));
  const missing = new Set(missingEntries);
  const known = new Set(file.warnings.map(({ span }) => span?.start));
  const takers = new Map(chosen.map(({ application, entry }) => [application.id, entry]));
  const useless = entries.filter((entry) => {
    if (inUse.has(entry) || missing.has(entry) || isPending(entry, pendingIds)) return false;
    const span = file.at('apps', config.apps.indexOf(entry), entry.selector.kind)?.span;
    // The file alone may have told already.
    return !known.has(span?.start);
  });
  return useless.slice(0, mostShown).map((entry) => {
    const selector = createApplicationSelector([entry]);
    const applications = discovery.applications.filter((one) => selector.entryOf(one) === entry);
    if (applications.length === 0) {
      return entryFinding(entry, checked, 'note', {
        message: `${selectorText(entry.selector)} matches nothing at the moment, so it excludes nothing`,
        remedy: 'newrelic-exporter discover lists the applications of the account',
      });
    }
    const taker = takers.get(applications[0]?.id ?? '');
    const by = taker === undefined ? 'earlier entries' : selectorText(taker.selector);
    const message =
      `${selectorText(entry.selector)} has no effect: ` +
      `${applications.length === 1 ? 'its application belongs' : `its ${applications.length} applications belong`} ` +
      `to entries before it, such as ${by}`;
    const remedy = 'put it before that entry, or remove it';
    return entryFinding(entry, checked, 'warning', { message, remedy });
  });
}

/** Tags that none of the applications has that they are wanted of, at their places. */
function tagFindings(
  { account, entries, selected, discovery }: DiscoveredAccount,
  { config, file }: CheckedConfig,
): readonly Finding[] {
  const known = [...new Set(discovery.applications.flatMap(({ tags = {} }) => Object.keys(tags)))];
  const pathOf = (entry: AppEntry) => ['apps', config.apps.indexOf(entry), 'tags'];
  const hasOwn = (entry: AppEntry): boolean => file.at(...pathOf(entry)) !== undefined;
  const lists = [
    { path: ['poll', 'tags'], users: entries.filter((entry) => !hasOwn(entry)) },
    ...entries.filter(hasOwn).map((entry) => ({ path: pathOf(entry), users: [entry] })),
  ];
  const findings = lists.flatMap(({ path, users }) => {
    const tags = Object.keys(users[0]?.poll.tags ?? {});
    const theirs = tags.length === 0 ? [] : selected.filter(({ entry }) => users.includes(entry));
    const subject = `none of ${countOf(theirs.length, 'application')}`;
    return tags.flatMap((tag, index) => {
      if (theirs.length === 0 || !theirs.every((one) => lacksTag(one, tag))) return [];
      const near = known.includes(tag) ? undefined : didYouMean(tag, known);
      const remedy = printable(near ?? 'newrelic-exporter discover shows which tags there are');
      const place = file.placeOf((file.at(...path, tag) ?? file.at(...path, index))?.span);
      const rest = { account: account.name, remedy, place };
      return [findingOf('warning', `${subject} has the tag "${printable(tag)}"`, rest)];
    });
  });
  return findings.slice(0, mostShown);
}

/** Whether New Relic says so. */
function lacksTag({ application: { tags } }: SelectedApplication, tag: string): boolean {
  return tags !== undefined && !Object.hasOwn(tags, tag);
}

/** Not an error: the check may run on another host, or before the agent has started. */
function hostFinding({ application, wanted, failure }: HostlessApplication, add: Add): Finding {
  const names = wanted.map((name) => JSON.stringify(name)).join(' or ');
  if (failure !== undefined) {
    const message = `application ${application.id}: the host ${names} could not be looked for`;
    return add('error', message, failure);
  }
  const message = `application ${application.id} has no host ${names} yet, which hosts: self asks for`;
  const remedy =
    'it appears some minutes after its agent has started; --host-name gives another name';
  return add('warning', message, remedy);
}

/** The metrics of a sample that New Relic does not know, at their lines. */
function unknownFindings(
  { entry, unknownMetrics }: Sample,
  { config, file }: CheckedConfig,
): readonly Finding[] {
  return unknownMetrics.map(({ series, key, message, remedy }) => {
    const index = entry.poll.metrics.findIndex(
      (one) =>
        typeof one === 'object' &&
        one.metric === series.metric &&
        one.value === series.value &&
        one.as === series.gauge.name,
    );
    const own = ['apps', config.apps.indexOf(entry)];
    const list = file.at(...own, 'metrics') === undefined ? ['poll'] : own;
    const place = file.placeOf(file.at(...list, 'metrics', index, key)?.span);
    return findingOf('warning', message, { account: entry.account, remedy, place });
  });
}

function sampleFinding({ application, outcome, unknownMetrics }: Sample, add: Add): Finding {
  const subject = `application ${application.id}`;
  if (outcome.error !== undefined) {
    return add('error', `${subject}: its values cannot be read`, outcome.error.message);
  }
  if (outcome.gone) {
    return add('error', `${subject}: New Relic lists it but has no values of it`);
  }
  const { reading } = outcome;
  const told = new Set(unknownMetrics.map(({ series }) => series.gauge.name));
  const lacks = gaugesWithoutValue(reading).filter((name) => !told.has(name));
  const without = lacks.length === 0 ? '' : `, and no value at the moment of ${lacks.join(', ')}`;
  return add('ok', `${subject}: values can be read, ${throughputText(reading)}${without}`);
}

function throughputText(reading: AppReading | undefined): string {
  const types = [...applicationMetrics(reading).keys()].join(' and ');
  if (types !== '') return `it has ${types} throughput`;
  const isAsked = reading?.series.some(({ preset }) => preset === 'throughput') !== false;
  return isAsked ? 'it has no throughput at the moment' : 'without throughput';
}

/** The gauges of the application itself, beside throughput, that none of its series has a value for. */
function gaugesWithoutValue(reading: AppReading | undefined): readonly string[] {
  if (reading === undefined) return [];
  const asked = reading.series.flatMap((series, index) =>
    series.preset === 'throughput' || !isReadOf('applications', series)
      ? []
      : [{ name: series.gauge.name, value: reading.application[index] }],
  );
  const having = new Set(asked.flatMap(({ name, value }) => (value === undefined ? [] : [name])));
  return [...new Set(asked.map(({ name }) => name))].filter((name) => !having.has(name));
}

/** Series of a query that are shown. */
const seriesShown = 3;

function queryFinding(
  answer: QueryAnswer,
  eventTypes: DiscoveredAccount['eventTypes'],
  { config, file }: CheckedConfig,
): Finding {
  const { query, outcome } = answer;
  // An entry that asks several accounts has one list of gauges.
  const entries = [...new Set(config.queries?.map(({ gauges }) => gauges))];
  const place = file.placeOf(file.at('queries', entries.indexOf(query.gauges), 'nrql')?.span);
  const { reading, error } = outcome;
  const { account, name } = query;
  if (reading === undefined) {
    const rest = { account, place, remedy: error?.message };
    return findingOf('error', `query ${name} brings nothing`, rest);
  }
  const shown = reading.series.slice(0, seriesShown).map(({ gauge, labels, value }) => {
    const texts = labels.map(([label, text]) => `${label}=${JSON.stringify(text)}`);
    return `${query.gauges[gauge]?.name ?? ''}{${texts.join(',')}} ${value}`;
  });
  const [severity, remedy] = isEmptyHanded(answer)
    ? verdictOnNothing(query, reading, eventTypes)
    : verdictOn(query, reading);
  const message = [`query ${name}: ${resultText(reading)}`, ...shown].join('; ');
  return findingOf(severity, message, { account, remedy, place });
}

type Verdict = readonly [Severity, remedy?: string];

function verdictOn({ facets, mostRows }: Query, reading: QueryReading): Verdict {
  if (reading.series.length === 0) return ['warning', emptyTextOf(reading)];
  if (reading.leftOut > 0) return ['warning', 'raise max_series, or ask for less'];
  if (facets.length === 0 || reading.rows < mostRows) return ['ok'];
  return ['note', 'there may be more rows than its LIMIT allows: raise LIMIT, or ask for less'];
}

/** What New Relic can be asked for, whether it lists it or not. */
const unlistedTypes = ['Metric', 'Entity'];

/** Names the first type that has no data, and what is probably meant; case matters. */
function verdictOnNothing(
  query: Query,
  reading: QueryReading,
  listed: DiscoveredAccount['eventTypes'],
): Verdict {
  if (listed === undefined || query.eventTypes.length === 0) return verdictOn(query, reading);
  const types = [...unlistedTypes, ...listed];
  const unknown = query.eventTypes.find((type) => !types.includes(type));
  if (unknown === undefined) {
    const isFiltered = reading.rows === 0;
    return isFiltered
      ? ['warning', 'check WHERE, or ask for a longer window']
      : verdictOn(query, reading);
  }
  const near = closest(unknown, types);
  const meant = near === undefined ? 'correct FROM' : `did you mean ${near}?`;
  const fact = `the account has had no data of the type ${unknown} in the last day`;
  return ['warning', printable(`${fact}: ${meant}`)];
}

function budgetFindings(discovered: DiscoveredAccount, add: Add): readonly Finding[] {
  return draftsOfDiscovered([discovered]).map(({ source, calls }) => {
    const text = budgetText(calls);
    if (calls.fits) return add('ok', `polling ${text}`);
    const remedies = remedyTexts({ ...calls, together: togetherOf({ source, calls }, 1) });
    return add('warning', `polling ${text}, so polls will be late`, remedies.join(' '));
  });
}

function pendingFinding(
  { pendingIds, missingEntries }: DiscoveredAccount,
  add: Add,
): readonly Finding[] {
  const more = missingEntries.length - mostShown;
  const remedy = 'correct the entries named above, and check again';
  return [
    ...(more > 0 ? [add('error', `${more} more match nothing`, remedy)] : []),
    ...(pendingIds.length > 0
      ? [add('error', `not found so far: ${pendingText(pendingIds.length)}`, remedy)]
      : []),
  ];
}

/** What one discovery says about an account and its entries. */
export async function accountFindings(
  discovered: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  const {
    account,
    discovery,
    failure,
    hostless,
    visible,
    samples,
    queryAnswers,
    eventTypes,
    metricCalls,
  } = discovered;
  const add: Add = (severity, message, remedy) =>
    findingOf(severity, message, { account: account.name, remedy });
  const id = accountIdFinding(account, visible);
  const ids = id === undefined ? [] : [add(id.severity, id.message, id.remedy)];
  const ofQueries = queryAnswers.map((one) => queryFinding(one, eventTypes, checked));
  if (!discovery.complete) {
    return [add('error', `discovery failed: ${failure}`), ...ids, ...ofQueries];
  }
  return [
    ...acceptedFinding(discovered, add),
    ...ids,
    ...(await missingFindings(discovered, checked)),
    ...pendingFinding(discovered, add),
    ...shadowedFindings(discovered, checked),
    ...tagFindings(discovered, checked),
    ...hostless.map((one) => hostFinding(one, add)),
    ...samples.flatMap((sample) => [
      sampleFinding(sample, add),
      ...unknownFindings(sample, checked),
    ]),
    ...ofQueries,
    ...(metricCalls === undefined ? [] : [add('ok', metricCalls)]),
    ...budgetFindings(discovered, add),
  ];
}

/** What the key gives access to; nothing if nobody has answered it. */
function acceptedFinding(
  { entries, discovery, selected, excluded, queryAnswers }: DiscoveredAccount,
  add: Add,
): readonly Finding[] {
  if (seeksAny({ entries })) {
    const found = countOf(discovery.applications.length, 'application');
    const left = excluded.length === 0 ? '' : `, ${excluded.length} excluded`;
    return [add('ok', `key accepted, ${found} found, ${selected.length} chosen${left}`)];
  }
  const isAccepted = queryAnswers.some(({ outcome }) => isAnswered(outcome.error));
  const queries = countOf(queryAnswers.length, 'query', 'queries');
  return isAccepted ? [add('ok', `key accepted, ${queries}`)] : [];
}
