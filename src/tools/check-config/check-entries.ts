import { mostShown } from '../../config/diagnostic.ts';
import { didYouMean } from '../../config/suggestion.ts';
import type { AppEntry } from '../../model/config.ts';
import { lacksTag } from '../../model/selected-application.ts';
import { createApplicationSelector, selectorText } from '../../model/selector.ts';
import { countOf, printable } from '../../model/shown-text.ts';
import { pendingText } from '../plan/plan-text.ts';
import { type DiscoveredAccount, isPending } from '../survey/discovered-account.ts';
import type { CheckedConfig, Finding, Severity } from '../survey/finding.ts';
import { suggestionFor } from '../survey/name-suggestion.ts';
import { sharedApplications } from './shared-applications.ts';

/** What a complete discovery says about the entries of its account, at their lines. */
export async function entryFindings(
  found: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  return [
    ...(await missingFindings(found, checked)),
    ...pendingFindings(found),
    ...shadowedFindings(found, checked),
    ...tagFindings(found, checked),
    ...sharedFindings(found, checked),
  ];
}

function entryFinding(
  severity: Severity,
  entry: AppEntry,
  { config, file }: CheckedConfig,
  { message, remedy }: { readonly message: string; readonly remedy: string },
): Finding {
  const span = file.at('apps', config.apps.indexOf(entry), entry.selector.kind);
  const place = file.placeOf(span);
  return { severity, account: entry.account, message, remedy, place };
}

async function missingFindings(
  { open, missing, discovery }: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  return Promise.all(
    missing.slice(0, mostShown).map(async (entry) =>
      entryFinding('error', entry, checked, {
        message: `${selectorText(entry.selector)} matches nothing`,
        remedy: await suggestionFor(entry.selector, discovery.applications, open.account.source),
      }),
    ),
  );
}

function pendingFindings({ open, missing, discovery }: DiscoveredAccount): readonly Finding[] {
  const more = missing.length - mostShown;
  const pending = discovery.pendingIds.length;
  const messages = [
    ...(more > 0 ? [`${more} more match nothing`] : []),
    ...(pending > 0 ? [`not found so far: ${pendingText(pending)}`] : []),
  ];
  const remedy = 'correct the entries named above, and check again';
  const account = open.account.name;
  return messages.map((message) => ({ severity: 'error', account, message, remedy }));
}

/** Entries that match applications, all of which earlier entries have taken. */
function shadowedFindings(
  { open, selected, excluded, missing, discovery }: DiscoveredAccount,
  checked: CheckedConfig,
): readonly Finding[] {
  const { config, file } = checked;
  const chosen = [...selected, ...excluded];
  const inUse = new Set(chosen.map(({ entry }) => entry));
  const isMissing = new Set(missing);
  const known = new Set(file.warnings.map(({ span }) => span?.start));
  const takers = new Map(chosen.map(({ application, entry }) => [application.id, entry]));
  const useless = open.entries.filter((entry) => {
    if (inUse.has(entry) || isMissing.has(entry) || isPending(entry, discovery.pendingIds))
      return false;
    const span = file.at('apps', config.apps.indexOf(entry), entry.selector.kind);
    // The file alone may have told already.
    return !known.has(span?.start);
  });
  return useless.slice(0, mostShown).map((entry) => {
    const selector = createApplicationSelector([entry]);
    const applications = discovery.applications.filter((one) => selector.entryOf(one) === entry);
    if (applications.length === 0) {
      return entryFinding('note', entry, checked, {
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
    return entryFinding('warning', entry, checked, { message, remedy });
  });
}

/** What entries of two files select, but for what the files alone have told. */
function sharedFindings(
  { open, discovery }: DiscoveredAccount,
  checked: CheckedConfig,
): readonly Finding[] {
  const told = new Set(checked.shared);
  return sharedApplications(open.entries, discovery.applications, checked)
    .filter(({ entry }) => !told.has(entry))
    .map(({ entry, ...what }) => entryFinding('warning', entry, checked, what));
}

/** Tags that none of the applications has that they are wanted of, at their places. */
function tagFindings(
  { open: { account, entries }, selected, discovery }: DiscoveredAccount,
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
      const place = file.placeOf(file.at(...path, tag) ?? file.at(...path, index));
      const message = `${subject} has the tag "${printable(tag)}"`;
      return [{ severity: 'warning', account: account.name, message, remedy, place } as const];
    });
  });
  return findings.slice(0, mostShown);
}
