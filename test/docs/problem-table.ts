import { kindsOfProblems, type ProblemKind, problemKinds } from '../../src/model/problem-kinds.ts';

/** The alert that tells of a kind; `undefined` if only page, log and metrics do. */
export const alertOfKind: Readonly<Record<ProblemKind, string | undefined>> = {
  config_broken: 'NewRelicExporterConfigReloadFailed',
  config_file_broken: 'NewRelicExporterConfigFileBroken',
  nothing_selected: undefined,
  key_refused: 'NewRelicExporterAuthenticationFailing',
  unreachable: 'NewRelicExporterDiscoveryFailing',
  list_failing: 'NewRelicExporterDiscoveryFailing',
  unanswered: 'NewRelicExporterDiscoveryFailing',
  throttled: 'NewRelicExporterRateLimited',
  key_unreadable: 'NewRelicExporterKeyUnreadable',
  entry_matches_nothing: 'NewRelicExporterApplicationMissing',
  application_failing: 'NewRelicExporterPollsFailing',
  query_failing: 'NewRelicExporterQueryFailing',
  application_dropped: 'NewRelicExporterDataStale',
  query_dropped: 'NewRelicExporterQueryFailing',
  budget_too_small: 'NewRelicExporterBudgetTooSmall',
  answers_slow: 'NewRelicExporterPollsSkipped',
  metric_without_value: 'NewRelicExporterMetricMissing',
  query_without_value: 'NewRelicExporterQueryMissing',
  tag_without_value: undefined,
  series_dropped: 'NewRelicExporterSeriesDropped',
  clock_wrong: undefined,
  key_shared: undefined,
};

function alertLink(kind: ProblemKind): string {
  const alert = alertOfKind[kind];
  if (alert === undefined) return '';
  return `[${alert.replace('NewRelicExporter', '')}](runbook.md#${alert.toLowerCase()})`;
}

/** The table of all kinds of problems, as it stands in the documents. */
export function problemTable(): string {
  const rows = kindsOfProblems.map((kind) => {
    const { phrase, remedy, log } = problemKinds[kind];
    const cells = [phrase[0], `\`${kind}\``, `\`${log[0]}\``, alertLink(kind), remedy];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| the headline | `kind` | line of the log | alert | what to do |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
