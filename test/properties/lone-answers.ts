import { isReadOf, type Values } from '../../src/model/polled-series.ts';
import type { AppReading, AppSnapshot } from '../../src/model/snapshot.ts';
import { minuteTextOf } from '../../src/newrelic/answer.ts';
import type { ApiResponse } from '../../src/newrelic/calls/transport.ts';
import type { FirstMetricFault } from '../../src/simulator/fault.ts';
import { withFirstMetricOnly } from '../../src/simulator/fault-effects.ts';
import { isNothing, parseTold } from './told-values.ts';
import type { MetricCall } from './vendor-wire.ts';

/** Whether answers for several metrics lack the values of all but the first: always, or now and then. */
export const traps = ['none', 'none', 'without_values', 'missing', 'now_and_then'] as const;

export type Trap = (typeof traps)[number];

const others: Readonly<Record<Trap, FirstMetricFault['others'] | undefined>> = {
  none: undefined,
  without_values: 'without_values',
  missing: 'missing',
  now_and_then: 'missing',
};

/** Springs the trap on answers. */
export function trapped(trap: Trap): (call: MetricCall, response: ApiResponse) => ApiResponse {
  let answers = 0;
  return ({ values }, response) => {
    answers += 1;
    const left = others[trap];
    if (left === undefined || (trap === 'now_and_then' && answers % 3 !== 0)) return response;
    const fault = { kind: 'first_metric_only', others: left } as const;
    const headers: Record<string, string> = {};
    const { body } = withFirstMetricOnly(fault, values, { ...response, headers });
    return { ...response, body };
  };
}

export type AskVendor = (target: string) => Promise<ApiResponse>;

/** What is not shown although the vendor says it of the shown window when it is asked for that alone. */
export async function leftOut(
  { application, reading }: AppSnapshot,
  { windowMs, ask }: { readonly windowMs: number; readonly ask: AskVendor },
): Promise<readonly string[]> {
  if (reading?.windowEndMs === undefined) return [];
  const { windowEndMs: toMs } = reading;
  const window = { from: minuteTextOf(toMs - windowMs), to: minuteTextOf(toMs), summarize: 'true' };
  const found: string[] = [];
  for (const [path, values, scope] of partsOf(application.id, reading)) {
    for (const [index, one] of reading.series.entries()) {
      if (values[index] !== undefined || !isReadOf(scope, one)) continue;
      const query = new URLSearchParams({ 'names[]': one.metric, ...window });
      for (const value of [one.value, 'requests_per_minute', 'count'])
        query.append('values[]', value);
      const { status, body } = await ask(
        `/v2/applications/${path}/metrics/data.json?${query.toString()}`,
      );
      const told = status === 200 ? parseTold(body) : new Map<string, number>();
      if (told.has(`${one.metric}\n${one.value}`) && !isNothing(one, told)) {
        found.push(`${path} ${one.metric} ${one.value}`);
      }
    }
  }
  return found;
}

function partsOf(
  id: string,
  { application, hosts }: AppReading,
): readonly (readonly [path: string, values: Values, scope: 'applications' | 'hosts'])[] {
  return [
    ...(application.length > 0 ? [[id, application, 'applications'] as const] : []),
    ...Array.from(hosts, ([host, values]) => [`${id}/hosts/${host}`, values, 'hosts'] as const),
  ];
}
