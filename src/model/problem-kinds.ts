/** `red`: something fails. `amber`: all of it works, but not as it was meant to. */
export type ProblemTone = 'red' | 'amber';

interface Kind {
  readonly tone: ProblemTone;
  /** What many of them are called, for a headline: behind a number. */
  readonly phrase: readonly [one: string, many: string];
  /** What to do. */
  readonly remedy: string;
  /** The messages of the log at its begin and at its end. */
  readonly log: readonly [begins: string, ends: string];
  /** Whether others tell of its begin and its end, so that the log only says that it lasts. */
  readonly isTold?: boolean;
}

/** All that can be wrong, the worst first: causes before their effects. */
const kindTable = {
  config_broken: {
    tone: 'red',
    phrase: ['refused configuration', 'refused configurations'],
    remedy: 'correct the file: newrelic-exporter check-config prints all errors',
    log: ['reload failed', 'configuration reloaded'],
    isTold: true,
  },
  config_file_broken: {
    tone: 'red',
    phrase: ['broken included file', 'broken included files'],
    remedy: 'correct the file: newrelic-exporter check-config prints all errors',
    log: ['included file broken', 'included file no longer broken'],
  },
  nothing_selected: {
    tone: 'red',
    phrase: ['configuration selects nothing', 'configurations select nothing'],
    remedy: 'see with newrelic-exporter discover what apps can have',
    log: ['no application is selected', 'applications are selected'],
  },
  key_refused: {
    tone: 'red',
    phrase: ['API key refused', 'API keys refused'],
    remedy: 'put a valid key of this region in its place: it is used within a minute',
    log: ['discovery failed', 'discovery works again'],
  },
  unreachable: {
    tone: 'red',
    phrase: ['account unreachable', 'accounts unreachable'],
    remedy: 'check network policies, DNS, base_url and proxy_url from this machine',
    log: ['discovery failed', 'discovery works again'],
  },
  list_failing: {
    tone: 'red',
    phrase: ['list of applications failing', 'lists of applications failing'],
    remedy: 'see the reason; known applications are polled meanwhile',
    log: ['discovery failed', 'discovery works again'],
  },
  unanswered: {
    tone: 'red',
    phrase: ['account without answers', 'accounts without answers'],
    remedy: 'see the reason; its queries are asked again',
    log: ['queries are not answered', 'queries are answered again'],
  },
  throttled: {
    tone: 'amber',
    phrase: ['account throttled', 'accounts throttled'],
    remedy: 'see who else uses the key, or lower requests_per_minute',
    log: ['rate limited by New Relic', 'no longer rate limited by New Relic'],
  },
  key_unreadable: {
    tone: 'red',
    phrase: ['API key cannot be read', 'API keys cannot be read'],
    remedy: 'put the key back in its place: a restart would fail',
    log: ['API key not readable, keeping the old', 'API key readable again'],
  },
  entry_matches_nothing: {
    tone: 'red',
    phrase: ['entry matches nothing', 'entries match nothing'],
    remedy:
      'correct the entry under apps, or use a key of the account that has it; with hosts: self see --host-name',
    log: ['entry of apps matches nothing', 'entry of apps matches again'],
  },
  application_failing: {
    tone: 'red',
    phrase: ['application failing', 'applications failing'],
    remedy: 'look the reason up in docs/troubleshooting.md',
    log: ['poll failed', 'poll works again'],
  },
  query_failing: {
    tone: 'red',
    phrase: ['query failing', 'queries failing'],
    remedy: 'look the reason up in docs/troubleshooting.md',
    log: ['poll failed', 'poll works again'],
  },
  application_dropped: {
    tone: 'red',
    phrase: ['application without its values', 'applications without their values'],
    remedy: 'see why its polls fail, on the status page or in the log',
    log: ['values dropped', 'values are back'],
  },
  query_dropped: {
    tone: 'red',
    phrase: ['query without its values', 'queries without their values'],
    remedy: 'see why its polls fail, on the status page or in the log',
    log: ['values dropped', 'values are back'],
  },
  budget_too_small: {
    tone: 'amber',
    phrase: ['budget too small', 'budgets too small'],
    remedy: 'raise requests_per_minute if the key allows it, or poll less',
    log: ['demand exceeds the budget: intervals are stretched', 'demand fits the budget again'],
  },
  answers_slow: {
    tone: 'amber',
    phrase: ['account answered too slowly', 'accounts answered too slowly'],
    remedy: 'raise concurrency, or poll less',
    log: [
      'New Relic answers too slowly for the demand: intervals are stretched',
      'New Relic answers fast enough again',
    ],
  },
  metric_without_value: {
    tone: 'amber',
    phrase: ['metric never has a value', 'metrics never have a value'],
    remedy:
      'see how the metric is spelt with "newrelic-exporter metrics"; if it is right, the agents do not send it: leave it out',
    log: ['metric never has a value', 'metric has a value'],
  },
  query_without_value: {
    tone: 'amber',
    phrase: ['query never has a value', 'queries never have a value'],
    remedy: 'correct the query, or leave it out',
    log: ['query never has a value', 'query has a value'],
  },
  tag_without_value: {
    tone: 'amber',
    phrase: ['tag never has a value', 'tags never have a value'],
    remedy: 'see how the tag is spelt with "newrelic-exporter discover", or leave it out',
    log: ['tag never has a value', 'tag has a value'],
  },
  series_dropped: {
    tone: 'amber',
    phrase: ['account with series left out', 'accounts with series left out'],
    remedy: 'give entries and queries labels that differ, or raise max_series',
    log: ['series are left out', 'no series are left out any more'],
  },
  clock_wrong: {
    tone: 'amber',
    phrase: ['clock wrong', 'clocks wrong'],
    remedy: 'compare the clock of this machine with a time server',
    log: [
      "New Relic's clock and this machine's differ",
      "New Relic's clock and this machine's agree again",
    ],
  },
  key_shared: {
    tone: 'amber',
    phrase: ['API key of several accounts', 'API keys of several accounts'],
    remedy: 'give each account a key of its own, or make them one account',
    log: ['accounts with the same API key', 'accounts have keys of their own'],
  },
} as const;

export type ProblemKind = keyof typeof kindTable;

export const problemKinds: Readonly<Record<ProblemKind, Kind>> = kindTable;

export const kindsOfProblems: readonly ProblemKind[] = Object.keys(kindTable).filter(
  (kind): kind is ProblemKind => Object.hasOwn(kindTable, kind),
);
