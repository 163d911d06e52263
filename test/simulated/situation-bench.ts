import { expect } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { type ProblemKind, problemKinds } from '../../src/model/problem-kinds.ts';
import type { AccountState, StatusSource } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { textOf } from '../support/html-parts.ts';
import { type Answering, faulty, statusSourceOf } from '../support/query-daemon.ts';
import {
  aRunningDaemon,
  type RunningDaemon,
  type RunningDaemonOptions,
} from '../support/running-daemon.ts';

export interface Situation {
  readonly what: string;
  /** Of each account. */
  readonly state: readonly AccountState[];
  /** The kinds of problems of the accounts. Default: none. */
  readonly own?: readonly ProblemKind[];
  readonly ofProcess?: readonly ProblemKind[];
  /** Those of which the log says nothing, because another one explains them or others tell of them. */
  readonly silent?: readonly ProblemKind[];
  /** Messages of the log that are not the usual ones of their kind. */
  readonly says?: Readonly<Partial<Record<ProblemKind, string>>>;
  readonly minutes?: number;
  readonly source?: 'rest' | 'nerdgraph';
  /** What is put behind the usual settings of the account. */
  readonly account?: string;
  /** A whole other list of accounts. */
  readonly accounts?: string;
  readonly apps?: string;
  readonly queries?: string;
  readonly options?: RunningDaemonOptions;
  /** What New Relic answers instead of what it would, from the third minute on or `fromMs`. */
  readonly answer?: Answering;
  readonly fromMs?: number;
  /** What happens to the files of the machine then. */
  readonly change?: (files: Record<string, string>) => void;
  readonly shard?: { readonly ordinal: number; readonly total: number };
  /** What is wrong with the file that was read last. */
  readonly fileProblem?: string;
  /** An included file that is broken, and what is wrong with it. */
  readonly brokenFile?: { readonly name: string; readonly problem: string };
}

export const fromMs: number = 3 * minuteMs;
export const keyFile = '/keys/one';

function textOfConfig({ source = 'rest', account = '', ...parts }: Situation): string {
  const api = source === 'rest' ? '' : 'source: nerdgraph, account_id: 1234567, ';
  const usual = `accounts: [{ name: one, ${api}timeout: 10s, api_key_file: ${keyFile}, ${account} }]`;
  return [
    parts.accounts ?? usual,
    parts.apps ?? 'apps: [{ match: ., discovery_interval: 60s }]',
    parts.queries === undefined ? '' : `queries:\n${parts.queries}`,
  ].join('\n');
}

export async function aSituation(
  situation: Situation,
): Promise<{ readonly bench: RunningDaemon; readonly source: StatusSource }> {
  const text = textOfConfig(situation);
  const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  const { answer = () => undefined, options, change, fileProblem, brokenFile } = situation;

  const begin = situation.fromMs ?? fromMs;
  const bench: RunningDaemon = await aRunningDaemon(config, {
    files: { [keyFile]: 'NRAK-A' },
    ...faulty({
      answer: (request) =>
        bench.platform.clock.monotonicMs() < begin ? undefined : answer(request),
    }),
    ...options,
    ...(situation.shard && { shard: situation.shard }),
  });
  const { clock } = bench.platform;
  if (fileProblem !== undefined) bench.daemon.metrics.configReloaded(false, clock.wallMs());
  if (brokenFile !== undefined) {
    bench.daemon.metrics.configReloaded(false, clock.wallMs(), [brokenFile.name]);
  }
  if (change !== undefined) clock.after(begin, () => change(bench.files));
  return { bench, source: statusSourceOf(bench, fileProblem, brokenFile) };
}

/** What a metric says of a kind: a line of the page that has to be there. */
const metrics: Readonly<Record<ProblemKind, RegExp | undefined>> = {
  config_broken: undefined,
  config_file_broken: /^newrelic_exporter_config_file_broken\{file="teams\/a.yaml"\} 1$/mu,
  nothing_selected: /^newrelic_exporter_applications\{.*state="selected"\} 0$/mu,
  key_refused: /^newrelic_up\{.*\} 0$/mu,
  unreachable: /^newrelic_up\{.*\} 0$/mu,
  list_failing: /^newrelic_up\{.*\} 0$/mu,
  unanswered: /^newrelic_up\{.*\} 0$/mu,
  throttled: /^newrelic_exporter_api_throttled_total\{.*\} [1-9]/mu,
  key_unreadable: /^newrelic_exporter_api_key_readable\{.*\} 0$/mu,
  entry_matches_nothing: /^newrelic_exporter_app_missing\{.*\} 1$/mu,
  application_failing: /^newrelic_application_poll_success\{.*\} 0$/mu,
  query_failing: /^newrelic_query_success\{.*\} 0$/mu,
  application_dropped: /^newrelic_application_poll_success\{.*\} 0$/mu,
  query_dropped: /^newrelic_query_success\{.*\} 0$/mu,
  budget_too_small: /^newrelic_exporter_api_demand_requests_per_minute\{/mu,
  answers_slow: /^newrelic_exporter_poll_interval_seconds\{/mu,
  metric_without_value: /^newrelic_exporter_metric_missing\{.*\} 1$/mu,
  query_without_value: /^newrelic_exporter_query_missing\{.*\} 1$/mu,
  tag_without_value: undefined,
  series_dropped: /^newrelic_exporter_series_dropped_total\{.*\} [1-9]/mu,
  clock_wrong: undefined,
  key_shared: undefined,
};

interface Json {
  readonly data: {
    readonly accounts: readonly { state: string; problems: readonly { kind: ProblemKind }[] }[];
    readonly process: { readonly problems: readonly { kind: ProblemKind }[] };
  };
}

/** What each surface says, of the same moment of the same run. */
async function surfacesOf(situation: Situation) {
  const { bench, source } = await aSituation(situation);
  await bench.platform.clock.advance((situation.minutes ?? 6) * minuteMs);
  const html = statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' });
  const query = { state: 'any', scrapePool: undefined, applicationId: undefined } as const;
  const { data } = JSON.parse([...targetsJson(source, query)].join('')) as Json;
  const kindsOf = (problems: readonly { readonly kind: ProblemKind }[]): readonly string[] =>
    [...new Set(problems.map(({ kind }) => kind))].toSorted();
  return {
    states: data.accounts.map(({ state }) => state),
    own: kindsOf(data.accounts.flatMap(({ problems }) => problems)),
    ofProcess: kindsOf(data.process.problems),
    tone: /<div class="banner (\w+)"/u.exec(html)?.[1],
    headline: /<p role="status">([^<]*)/u.exec(html)?.[1] ?? '',
    page: textOf(html),
    lines: bench.logger.lines.map(({ message }) => message),
    metrics: `${await bench.page()}${await bench.daemon.metrics.text()}`,
  };
}

/** The page, its headline, JSON, log and metrics say of one moment what the row says. */
export async function expectSaidEverywhere(situation: Situation): Promise<void> {
  const { state, own = [], ofProcess = [] } = situation;
  const all = [...own, ...ofProcess];
  const seen = await surfacesOf(situation);

  expect(seen.own).toEqual([...own].toSorted());
  expect(seen.ofProcess).toEqual([...ofProcess].toSorted());
  expect(seen.states).toEqual(state);
  const isRed = all.some((kind) => problemKinds[kind].tone === 'red');
  expect(seen.tone).toBe(all.length === 0 ? 'good' : isRed ? 'bad' : 'wait');
  for (const kind of all) expectKindSaid(kind, situation, seen);
}

function expectKindSaid(
  kind: ProblemKind,
  { silent = [], says = {} }: Situation,
  seen: Awaited<ReturnType<typeof surfacesOf>>,
): void {
  const { phrase, log } = problemKinds[kind];
  const names = phrase.join('|');
  expect(seen.headline).toMatch(new RegExp(`\\b\\d+ (?:${names})\\b`, 'iu'));
  const note = new RegExp(`${names}|fails?(?: because|: see below)`, 'iu');
  expect(seen.page.replace(seen.headline, '')).toMatch(note);
  expect(seen.metrics).toMatch(metrics[kind] ?? /./u);
  const isSilent = silent.includes(kind);
  expect(seen.lines.includes(says[kind] ?? log[0])).toBe(!isSilent);
}
