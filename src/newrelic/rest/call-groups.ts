import { ApiError } from '../../model/api-error.ts';
import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import type { ApiObserver, Logger } from '../../model/telemetry.ts';
import type { MetricAnswer } from './metric-payload.ts';
import { queryLengthOf, valuesOf } from './requests.ts';

type Series = readonly PolledSeries[];

/** What one call asks for, of an application or of a host. */
export interface SeriesGroup {
  readonly series: Series;
  /** Its series for each kind of metric: those of which the same values are read. */
  readonly kinds: readonly Series[];
}

/** The calls that a poll makes for the application and for each of its hosts: none where nothing is read. */
export interface CallGroups {
  readonly applications: readonly SeriesGroup[];
  readonly hosts: readonly SeriesGroup[];
}

export type CallGroupsOf = (series: Series) => CallGroups;

/** Series that are grouped once are known: thousands of applications have the same ones. */
export function createCallGroups(): CallGroupsOf {
  const known = new WeakMap<Series, CallGroups>();
  return (series) => {
    const groups = known.get(series) ?? callGroupsOf(series);
    known.set(series, groups);
    return groups;
  };
}

function callGroupsOf(series: Series): CallGroups {
  const groupsOf = (read: Series): readonly SeriesGroup[] =>
    fittingOf(read).map((group) => ({ series: group, kinds: seriesOfKinds(group) }));
  return {
    applications: groupsOf(series.filter((one) => isReadOf('applications', one))),
    hosts: groupsOf(series.filter((one) => isReadOf('hosts', one))),
  };
}

/** The series of metrics of which the same values are read, together. */
function seriesOfKinds(series: Series): readonly Series[] {
  const valuesRead = series.map(({ metric }) => {
    const ofMetric = series.filter((one) => one.metric === metric);
    return [...new Set(ofMetric.flatMap(valuesOf))].toSorted().join();
  });
  return [...new Set(valuesRead)].map((read) => series.filter((_, at) => valuesRead[at] === read));
}

/** A URL should stay under 4 kB, although the vendor does not say so. */
const longestTarget = 3500;

/** Which series one call asks for: usually all of them. Else the groups are filled in the order of the series. */
function fittingOf(series: Series): readonly Series[] {
  const groups: PolledSeries[][] = [];
  for (const one of series) {
    const last = groups.at(-1);
    const fits = last !== undefined && queryLengthOf([...last, one]) <= longestTarget;
    if (fits) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

const unexpectedKind = 'values_missing';
export const apartMessage = 'New Relic answers for one metric at a time';
const remedy =
  'each kind of metric takes a call of its own from now on: fewer of them in "metrics", or "source: nerdgraph", take fewer calls';

export interface WholeAnswersContext {
  readonly observer: Pick<ApiObserver, 'unexpected'>;
  readonly logger: Logger;
}

/**
 * Whether New Relic's answers for several metrics are whole. It documents that it may leave out the values of
 * all metrics but the first, if not all have the same values. This is one fact of an account: believed until
 * an answer says nothing of a metric, and another one does when each kind of metric is asked for apart.
 */
export class WholeAnswers {
  readonly #account: string;
  readonly #context: WholeAnswersContext;
  /** What has nothing even then lacks the values that are asked for: that is not found out in each poll. */
  readonly #askedApart = new Set<string>();
  /** What was refused apart once: its host may just have ended, and that says nothing of the metric. */
  readonly #refusedApart = new Set<string>();
  #areWhole = true;

  /** @param account its name in the log */
  constructor(account: string, context: WholeAnswersContext) {
    this.#account = account;
    this.#context = context;
    context.observer.unexpected(unexpectedKind, 0);
  }

  get areWhole(): boolean {
    return this.#areWhole;
  }

  /** Asks for a group: together, and at once for each kind apart if the answer says nothing of a metric. */
  async ask(
    { series, kinds }: SeriesGroup,
    ask: (some: readonly PolledSeries[]) => Promise<MetricAnswer>,
  ): Promise<Pick<MetricAnswer, 'values' | 'windowEndMs'>> {
    if (kinds.length === 1) return ask(series);
    const together = this.#areWhole ? await ask(series) : undefined;
    const silent = together?.unanswered.filter((name) => !this.#askedApart.has(name)) ?? [];
    if (together !== undefined && this.#areWhole && silent.length === 0) return together;
    const answers: MetricAnswer[] = [];
    const refused = new Set<string>();
    for (const some of kinds) {
      const toRefusal = refusedApart(together, series, some);
      answers.push(
        await ask(some).catch((error: unknown) => {
          const answer = toRefusal(error);
          for (const { metric } of some) refused.add(metric);
          return answer;
        }),
      );
    }
    this.#learn(silent, answers, refused);
    const values = answers.flatMap((answer) => answer.values);
    const endsMs = answers.flatMap(({ windowEndMs }) => windowEndMs ?? []);
    return {
      values: series.map((one) => values[kinds.flat().indexOf(one)]),
      windowEndMs: endsMs.length === 0 ? undefined : Math.min(...endsMs),
    };
  }

  /** @param refused what was not answered apart, and so says nothing */
  #learn(
    silent: readonly string[],
    answers: readonly MetricAnswer[],
    refused: ReadonlySet<string>,
  ): void {
    for (const name of silent) {
      const isKnown = !refused.has(name) || this.#refusedApart.has(name);
      (isKnown ? this.#askedApart : this.#refusedApart).add(name);
    }
    const stillSilent = new Set(answers.flatMap(({ unanswered }) => unanswered));
    const isFound = (name: string): boolean => !stillSilent.has(name) && !refused.has(name);
    if (!this.#areWhole || !silent.some(isFound)) return;
    this.#areWhole = false;
    this.#context.observer.unexpected(unexpectedKind, 1);
    this.#context.logger.warn(
      { account: this.#account, kind: unexpectedKind, remedy },
      apartMessage,
    );
  }
}

/** What was answered together says what New Relic has of a kind, where it knows nothing of the kind apart. */
function refusedApart(together: MetricAnswer | undefined, series: Series, kindOfMetric: Series) {
  return (error: unknown): MetricAnswer => {
    const isRefusal =
      error instanceof ApiError && (error.reason === 'not_found' || error.reason === 'client');
    if (together === undefined || !isRefusal) throw error;
    const values = kindOfMetric.map((one) => together.values[series.indexOf(one)]);
    return { ...together, values, unanswered: [] };
  };
}
