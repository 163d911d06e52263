import { ApiError } from '../model/api-error.ts';
import { hasDifferentValues } from './call-groups.ts';
import type { MetricAnswer, MetricQuery } from './metric-payload.ts';
import type { RequestContext } from './requests.ts';
import type { RestClient } from './rest-client.ts';
import type { LoneQuestion, SplitMetrics } from './split-metrics.ts';

const aboutTheQuestion: ReadonlySet<number> = new Set([400, 404, 422]);

/** The calls of the client for values. */
export type MetricClient = Pick<RestClient, 'applicationMetrics' | 'hostMetrics'>;

/**
 * Asks again, for one metric at a time, for what may have been left out of an answer for several. An
 * answer comes as a whole: if one of the further calls fails, so does what was asked for.
 */
export function createCompletingClient(client: MetricClient, metrics: SplitMetrics): MetricClient {
  const known = { metrics, open: new Map<string, Set<Promise<unknown>>>() };
  return {
    applicationMetrics: async (applicationId, query, context) => {
      const ask = async (asked: MetricQuery): Promise<MetricAnswer> =>
        client.applicationMetrics(applicationId, asked, context);
      return completed(known, { scope: 'applications', applicationId }, { query, ask, context });
    },
    hostMetrics: async (applicationId, hostId, query, context) => {
      const ask = async (asked: MetricQuery): Promise<MetricAnswer> =>
        client.hostMetrics(applicationId, hostId, asked, context);
      return completed(known, { scope: 'hosts', applicationId }, { query, ask, context });
    },
  };
}

interface Known {
  readonly metrics: SplitMetrics;
  /** Questions about one metric alone that are not answered, by metric. */
  readonly open: Map<string, Set<Promise<unknown>>>;
}

type Ask = (query: MetricQuery) => Promise<MetricAnswer>;

interface Asked {
  readonly query: MetricQuery;
  readonly ask: Ask;
  readonly context: Pick<RequestContext, 'signal'>;
}

async function completed(
  { metrics, open }: Known,
  subject: Omit<LoneQuestion, 'metric'>,
  { query, ask, context }: Asked,
): Promise<MetricAnswer> {
  let answer = await ask(query);
  const { answered = [], valueless = [] } = answer;
  if (answered.length + valueless.length < 2 || !hasDifferentValues(query.series)) return answer;
  metrics.cameTogether(answered);
  for (const metric of valueless) {
    const question = { ...subject, metric };
    if (!metrics.shouldAsk(question)) {
      // Hosts that are polled together fall into the trap together.
      await allEnded(open.get(metric), context.signal);
      if (!metrics.isApart(metric)) continue;
    }
    const asking = askedAlone(metrics, question, query, ask);
    const others = open.get(metric) ?? new Set();
    open.set(metric, others.add(asking));
    try {
      answer = withMetric(answer, query, metric, await asking);
    } finally {
      others.delete(asking);
      if (others.size === 0) open.delete(metric);
    }
  }
  return answer;
}

/** Waits until each of them has an answer or has failed. Rejects with the signal's reason. */
async function allEnded(
  promises: Iterable<Promise<unknown>> = [],
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    await Promise.race([Promise.allSettled(promises), aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

async function askedAlone(
  metrics: SplitMetrics,
  question: LoneQuestion,
  query: MetricQuery,
  ask: Ask,
): Promise<MetricAnswer> {
  const series = query.series.filter(({ metric }) => metric === question.metric);
  try {
    const answer = await ask({ ...query, series });
    metrics.answered(question, answer.answered !== undefined && answer.answered.length > 0);
    return answer;
  } catch (error) {
    if (isAboutMetric(error)) {
      metrics.answered(question, false);
      return { values: [], windowEndMs: undefined };
    }
    metrics.failed(question);
    throw error;
  }
}

/** The application was there when all metrics were asked for: it is this one that New Relic does not know. */
function isAboutMetric(error: unknown): boolean {
  return (
    error instanceof ApiError && error.status !== undefined && aboutTheQuestion.has(error.status)
  );
}

/** The answer with the values that came for one of its metrics alone. */
function withMetric(
  answer: MetricAnswer,
  { series }: MetricQuery,
  name: string,
  alone: MetricAnswer,
): MetricAnswer {
  const own = alone.values.values();
  const ends = [answer.windowEndMs, alone.windowEndMs].filter((endMs) => endMs !== undefined);
  return {
    ...answer,
    values: series.map(({ metric }, index) =>
      metric === name ? own.next().value : answer.values[index],
    ),
    windowEndMs: ends.length === 0 ? undefined : Math.min(...ends),
    extraCalls: (answer.extraCalls ?? 0) + 1,
  };
}
