import {
  type Alert,
  alertsOf,
  type Recording,
  readRuleFiles,
  recordingsOf,
} from '../rules/rule-files.ts';
import { seriesName } from './history.ts';
import type { Labels, PastPrometheus, TimeRange } from './past-prometheus.ts';

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

function durationMs(text: string): number {
  const [, count = '', unit = ''] = /^(\d+)([smh])$/u.exec(text) ?? [];
  const seconds = secondsOf[unit];
  if (seconds === undefined) throw new Error(`not a duration: ${text}`);
  return Number(count) * seconds * 1000;
}

function linesOf(
  metric: Labels,
  values: readonly (readonly [seconds: number, value: string])[],
): readonly string[] {
  return values.map(([seconds, value]) => `${seriesName(metric)} ${value} ${seconds}\n`);
}

/** Rules of which none reads what another one records: each has the others' expressions instead. */
function independent(rules: readonly Recording[]): readonly Recording[] {
  return rules.reduce<readonly Recording[]>((earlier, { record, expr }) => {
    const whole = earlier.reduce(
      (text, other) => text.replaceAll(other.record, `(${other.expr})`),
      expr,
    );
    return [...earlier, { record, expr: whole }];
  }, []);
}

/** What the recording rules give over these ranges, as lines of an exposition. */
export async function recordedBy(
  data: Pick<PastPrometheus, 'queryRange'>,
  ranges: readonly TimeRange[],
): Promise<readonly string[]> {
  const record = async ({ record: name, expr }: Recording): Promise<readonly string[]> => {
    const answers = await Promise.all(ranges.map(async (range) => data.queryRange(expr, range)));
    return answers.flatMap(({ result }) =>
      result.flatMap(({ metric, values }) => linesOf({ ...metric, __name__: name }, values)),
    );
  };
  const recorded = await Promise.all(independent(recordingsOf(readRuleFiles())).map(record));
  return recorded.flat();
}

/** The series `ALERTS` of an alert that is active since the first of these moments. */
function stateLines(
  labels: Labels,
  active: readonly number[],
  { holdMs, stepMs }: { readonly holdMs: number; readonly stepMs: number },
): readonly string[] {
  let sinceMs = 0;
  let beforeMs = 0;
  return active.flatMap((seconds) => {
    const ms = seconds * 1000;
    if (ms - beforeMs > stepMs) sinceMs = ms;
    beforeMs = ms;
    const alertstate = ms - sinceMs >= holdMs ? 'firing' : 'pending';
    return linesOf({ __name__: 'ALERTS', ...labels, alertstate }, [[seconds, '1']]);
  });
}

/**
 * Which alerts are pending and firing, as Prometheus writes it into the series `ALERTS`. Needs the series
 * of the recording rules.
 */
export async function alertsBy(
  data: Pick<PastPrometheus, 'queryRange'>,
  range: TimeRange,
): Promise<readonly string[]> {
  const raise = async ({ alert, expr, labels, for: hold }: Alert): Promise<readonly string[]> => {
    const { result } = await data.queryRange(expr, range);
    const holdMs = hold === undefined ? 0 : durationMs(hold);
    return result.flatMap(({ metric: { __name__: _name, ...metric }, values }) =>
      stateLines(
        { ...metric, ...labels, alertname: alert },
        values.map(([seconds]) => seconds),
        { holdMs, stepMs: range.stepMs },
      ),
    );
  };
  const raised = await Promise.all(alertsOf(readRuleFiles()).map(raise));
  return raised.flat();
}
