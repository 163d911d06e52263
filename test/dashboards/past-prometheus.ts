import type { Prometheus } from './prometheus.ts';

export type Labels = Readonly<Record<string, string>>;
export type Point = readonly [seconds: number, value: string];

/** The `data` of an answer of Prometheus' own API. */
export interface VectorResult {
  readonly resultType: 'vector';
  readonly result: readonly { readonly metric: Labels; readonly value: Point }[];
}

/** The `data` of an answer of Prometheus' own API. */
export interface MatrixResult {
  readonly resultType: 'matrix';
  readonly result: readonly { readonly metric: Labels; readonly values: readonly Point[] }[];
}

export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/** What Prometheus has about a moment that is over: nothing changes it any more. */
export interface PastPrometheus {
  /** Rejects with what Prometheus says about the expression. Without a moment: at the end of the data. */
  query(expression: string, atMs?: number): Promise<VectorResult>;
  queryRange(expression: string, range: TimeRange): Promise<MatrixResult>;
  /** The values of a label among the series of a selector, as of the last hour. */
  labelValues(label: string, selector: string): Promise<readonly string[]>;
  series(selector: string): Promise<readonly Labels[]>;
}

interface ApiAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data?: unknown;
}

function secondsText(ms: number): string {
  return String(ms / 1000);
}

/** @param nowMs the end of the data */
export function pastOf(prometheus: Prometheus, nowMs: number): PastPrometheus {
  const ask = async (
    path: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<unknown> => {
    const query = new URLSearchParams(parameters).toString();
    const answer = (await prometheus.get(`/api/v1/${path}?${query}`)) as ApiAnswer;
    if (answer.status === 'success') return answer.data;
    throw new Error(`Prometheus refuses ${JSON.stringify(parameters)}: ${answer.error}`);
  };
  const lastHour = { start: secondsText(nowMs - 3_600_000), end: secondsText(nowMs) };
  return {
    query: async (query, atMs = nowMs) =>
      (await ask('query', { query, time: secondsText(atMs) })) as VectorResult,
    queryRange: async (query, { startMs, endMs, stepMs }) =>
      (await ask('query_range', {
        query,
        start: secondsText(startMs),
        end: secondsText(endMs),
        step: secondsText(stepMs),
      })) as MatrixResult,
    labelValues: async (label, selector) =>
      (await ask(`label/${label}/values`, {
        'match[]': selector,
        ...lastHour,
      })) as readonly string[],
    series: async (selector) =>
      (await ask('series', { 'match[]': selector, ...lastHour })) as readonly Labels[],
  };
}
