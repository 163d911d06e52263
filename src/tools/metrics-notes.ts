import { countOf } from '../cli/one-shot.ts';
import type { AccountConfig } from '../model/config.ts';
import { printable } from '../model/line-text.ts';
import type { ListedMetric, MetricListEnd } from '../model/metric-list.ts';
import { defaultMaxMetricPages } from '../rest/metric-names.ts';
import type { ListedTarget } from './metrics-text.ts';

/** Seconds that New Relic has been seen to take for a page. */
const secondsPerPage = 6;

/**
 * What a list of more than one page is going to cost.
 *
 * @param pages how many there are, if New Relic says so
 */
export function budgetNote(
  { name, requestsPerMinute }: Pick<AccountConfig, 'name' | 'requestsPerMinute'>,
  pages: number | undefined,
): string {
  const calls = Math.min(pages ?? defaultMaxMetricPages, defaultMaxMetricPages) - 1;
  const atMost = pages === undefined ? 'up to ' : '';
  return `note: there are more names than the 1000 of one page: ${atMost}${countOf(calls, 'further call')} from the budget of account ${printable(name)} (${requestsPerMinute} a minute), often ${secondsPerPage} s each; --like=TEXT asks for fewer`;
}

/** Why a list is not complete; nothing if it is. Without an end it was given up. */
export function endNotes(
  end: MetricListEnd | undefined,
  all: readonly ListedMetric[],
  accountName: string,
): readonly string[] {
  const account = `account ${printable(accountName)}`;
  const read = `${countOf(all.length, 'metric')} ${all.length === 1 ? 'was' : 'were'} read`;
  if (end === undefined) return [`${account}: the list is not complete: ${read} by then`];
  const { error, cut } = end;
  if (error !== undefined) {
    return [`${account}: the list is not complete, ${read}: ${error.message}`];
  }
  if (cut === undefined) return [];
  return [
    `${account}: the list is longer than what is read of it, ${cut}: list fewer with --like=TEXT`,
  ];
}

/** What the list itself does not say. */
export function listNotes(
  all: readonly ListedMetric[],
  { source, application, host, isComplete }: ListedTarget,
  like: string,
): readonly string[] {
  if (all.length === 0 && isComplete) {
    const filter = like === '' ? '' : ` whose name contains "${printable(like)}"`;
    const where = host === undefined ? '' : ` on host ${printable(host.name ?? host.id)}`;
    // The documents of the REST API do not say how it compares; those of NRQL do.
    const isCaseInDoubt = like !== '' && source === 'rest';
    const hint = isCaseInDoubt ? ': try it in upper and lower case as the agent writes it' : '';
    return [`application ${application.id} has no metric${filter}${where}${hint}`];
  }
  if (all.every(({ values }) => values !== undefined)) return [];
  return [
    'note: NerdGraph does not tell which values a metric has: they are shown where its name says so',
  ];
}
