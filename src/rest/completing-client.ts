import { ApiError } from '../model/api-error.ts';
import { hasDifferentValues } from './call-groups.ts';
import type { MetricAnswer, MetricQuery } from './metric-payload.ts';
import type { RestClient } from './rest-client.ts';
import type { LoneQuestion, SplitMetrics } from './split-metrics.ts';

const aboutTheQuestion: ReadonlySet<number> = new Set([400, 404, 422]);

/** The calls of the client for values. */
export type MetricClient = Pick<RestClient, 'applicationThroughput' | 'hostThroughput'>;

/**
 * Asks again, for one metric at a time, for what may have been left out of an answer for several. An
 * answer comes as a whole: if one of the further calls fails, so does what was asked for.
 */
export function createCompletingClient(client: MetricClient, metrics: SplitMetrics): MetricClient {
  return {
    applicationThroughput: async (applicationId, query, context) => {
      const ask = async (asked: MetricQuery): Promise<MetricAnswer> =>
        client.applicationThroughput(applicationId, asked, context);
      return completed(metrics, { scope: 'applications', applicationId }, query, ask);
    },
    hostThroughput: async (applicationId, hostId, query, context) => {
      const ask = async (asked: MetricQuery): Promise<MetricAnswer> =>
        client.hostThroughput(applicationId, hostId, asked, context);
      return completed(metrics, { scope: 'hosts', applicationId }, query, ask);
    },
  };
}

async function completed(
  metrics: SplitMetrics,
  subject: Omit<LoneQuestion, 'metric'>,
  query: MetricQuery,
  ask: (query: MetricQuery) => Promise<MetricAnswer>,
): Promise<MetricAnswer> {
  let answer = await ask(query);
  const { answered = [], valueless = [] } = answer;
  if (answered.length + valueless.length < 2 || !hasDifferentValues(query.series)) return answer;
  metrics.cameTogether(answered);
  for (const metric of valueless) {
    const question = { ...subject, metric };
    if (!metrics.shouldAsk(question)) continue;
    answer = withMetric(answer, query, metric, await askedAlone(metrics, question, query, ask));
  }
  return answer;
}

async function askedAlone(
  metrics: SplitMetrics,
  question: LoneQuestion,
  query: MetricQuery,
  ask: (query: MetricQuery) => Promise<MetricAnswer>,
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
