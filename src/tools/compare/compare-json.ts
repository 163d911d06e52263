import type { AccountComparison } from './compare-account.ts';
import type { OneSidedApplication } from './compare-lists.ts';
import { countsOf, type Judgement } from './compare-summary.ts';
import type { ComparedValue } from './compare-values.ts';

type JsonDocument = Readonly<Record<string, unknown>>;

/** A comparison for machines: every value, in its base unit, and times in seconds. */
export function comparisonJson(
  accounts: readonly AccountComparison[],
  { safe, sentence }: Judgement,
): string {
  const values = accounts.flatMap((one) => (one.kind === 'compared' ? one.values : []));
  const document = {
    safe: safe === 'unknown' ? null : safe === 'yes',
    sentence,
    accounts: accounts.map(accountDocument),
    values: values.map(valueDocument),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function accountDocument(one: AccountComparison): JsonDocument {
  if (one.kind === 'not compared') {
    return { account: one.account, compared: false, reason: one.reason };
  }
  const {
    account,
    applications,
    oneSided,
    renamed,
    hosts,
    shortOfHosts,
    calls,
    elapsedMs,
    values,
  } = one;
  return {
    account,
    compared: true,
    applications: {
      ...applications,
      only_rest: listOf(oneSided, 'rest'),
      only_nerdgraph: listOf(oneSided, 'nerdgraph'),
      unclear: listOf(oneSided, 'unclear'),
      renamed,
    },
    hosts: { ...hosts, short: shortOfHosts },
    calls,
    seconds: { rest: elapsedMs.rest / 1000, nerdgraph: elapsedMs.nerdgraph / 1000 },
    verdicts: Object.fromEntries(
      Object.entries(countsOf(values)).map(([verdict, count]) => [snakeCase(verdict), count]),
    ),
  };
}

function listOf(
  oneSided: readonly OneSidedApplication[],
  wanted: OneSidedApplication['onlyIn'],
): readonly JsonDocument[] {
  return oneSided
    .filter(({ onlyIn }) => onlyIn === wanted)
    .map(({ id, name, reporting }) => ({ id, name, reporting: reporting ?? null }));
}

function valueDocument(value: ComparedValue): JsonDocument {
  const { account, application, host, hostIds, series, rest, nerdgraph, verdict, reason } = value;
  return {
    account,
    app_id: application.id,
    app_name: application.name,
    host_name: host ?? null,
    rest_host_ids: hostIds,
    metric: host === undefined ? series.gauge.name : series.gauge.hostName,
    transaction_type: series.transactionType ?? null,
    labels: series.labels,
    rest: rest ?? null,
    nerdgraph: nerdgraph ?? null,
    difference: rest === undefined || nerdgraph === undefined ? null : nerdgraph - rest,
    verdict: snakeCase(verdict),
    reason: reason ?? null,
  };
}

function snakeCase(verdict: string): string {
  return verdict.toLowerCase().replaceAll(' ', '_');
}
