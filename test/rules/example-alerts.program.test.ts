import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiResponse } from '../../src/newrelic/calls/transport.ts';
import { shellWordsIn } from '../docs/command-rule.ts';
import {
  commands,
  type Example,
  examples,
  type Machine,
  machineWith,
  type Trouble,
} from '../docs/example-machine.ts';
import { promtoolComplaint as complaintOf } from '../docs/promtool-rule.ts';
import { withServing } from '../support/serving.ts';
import { toolOrSkip } from '../support/tools.ts';
import { metricNamesIn } from './promql-names.ts';
import { type PromtoolTest, promtoolComplaint } from './promtool-test.ts';
import { Scrapes } from './recorded-series.ts';

const promtool = toolOrSkip('promtool');

/** The lines of the head below a title, without the signs of a comment. */
function blockOf({ text }: Example, title: string): string {
  const [, block = ''] = new RegExp(`^# ${title}:\\n((?:# {3}.*\\n)+)`, 'mu').exec(text) ?? [];
  return block.replaceAll(/^# {3}/gmu, '');
}

const rulesSchema = z.object({
  groups: z.tuple([
    z.looseObject({
      rules: z.tuple([z.looseObject({ alert: z.string(), expr: z.string(), for: z.string() })]),
    }),
  ]),
});

const cases = examples.map((example) => ({
  ...example,
  // Debian's promtool is built without the discovery of Kubernetes.
  scrape: blockOf(example, 'Scrape').replace('kubernetes_sd_configs: [{ role: pod }]', ''),
  alert: blockOf(example, 'Alert'),
}));

/** What goes wrong after the first minutes, when nothing has fired. */
interface Cause {
  /** Minutes until then, and how long it lasts; by default 30. */
  readonly well?: number;
  readonly ill?: number;
  readonly begin: (machine: Machine, trouble: Trouble) => void;
}

/** Answers whose numbers under these keys are so many times as high. */
function times(factor: number, keys: RegExp): Cause['begin'] {
  const changed = (key: string, value: unknown): unknown =>
    typeof value === 'number' && keys.test(key) ? value * factor : value;
  return (_, trouble) => {
    trouble.answer = ({ body, ...answer }: ApiResponse) => {
      const parsed: unknown = JSON.parse(body, changed);
      return { ...answer, body: JSON.stringify(parsed) };
    };
  };
}

const cutOff: Cause['begin'] = (_, trouble) => {
  trouble.answer = () => ({ status: 502, headers: {}, body: '<html>Bad Gateway</html>' });
};

/** The exporter itself is gone. */
const gone = 'gone';

const causes: Readonly<Record<string, Cause | typeof gone>> = {
  'by-name.yaml': { begin: times(20, /error/u) },
  'compare.yaml': { begin: times(100, /average_response_time/u) },
  'everything-but-staging.yaml': {
    begin: ({ simulators: [simulator] }) => {
      for (const { id, name } of simulator?.fleet.applications() ?? []) {
        if (name === 'shop-1') simulator?.fleet.setReporting(id, false);
      }
    },
  },
  'gateway.yaml': { begin: cutOff },
  'ingest.yaml': { well: 180, ill: 300, begin: times(10, /gauge_value/u) },
  'kafka.yaml': { begin: times(10, /gauge_value/u) },
  'lambda.yaml': { begin: times(10, /errors/u) },
  'logs.yaml': { begin: times(1000, /gauge_value/u) },
  'many-accounts.yaml': { begin: times(1000, /gauge_value/u) },
  'nerdgraph-tags.yaml': { begin: times(100, /^c[68]$/u) },
  'proxy.yaml': { begin: cutOff },
  'shards.yaml': gone,
  'sidecar.yaml': { begin: times(20, /error/u) },
  'slo.yaml': { begin: times(20, /bad/u) },
  'synthetics.yaml': { begin: times(0, /gauge_value/u) },
  'teams.yaml': { begin: times(20, /error/u) },
  'two-regions.yaml': {
    well: 90,
    begin: ({ simulators: [simulator] }) => {
      for (const { id } of simulator?.fleet.applications() ?? []) {
        simulator?.fleet.setTraffic(id, { webRpm: 1, otherRpm: 1 });
      }
    },
  },
};

interface Recording {
  readonly series: PromtoolTest['input_series'];
  readonly well: number;
  readonly last: number;
}

/** What Prometheus gets each minute of the daemon on simulated time, before and after something goes wrong. */
async function recordingOf(example: Example, expr: string): Promise<Recording> {
  const cause = causes[example.name];
  if (cause === undefined) throw new Error(`no cause for ${example.name}`);
  const { well = 30, ill = 30 } = cause === gone ? {} : cause;
  const trouble: Trouble = { answer: undefined };
  const machine = machineWith(example, trouble);
  const { platform } = machine;
  const start = commands.find(
    ({ name, command }) => name === example.name && command.startsWith('--'),
  );
  const flags = shellWordsIn(start?.command ?? '').slice(1);
  const scrapes = new Scrapes(
    'job="newrelic",instance="localhost:9126"',
    platform.clock.wallMs(),
    new Set(metricNamesIn(expr)),
  );
  await withServing(flags, platform, async ({ page }) => {
    for (let minute = 0; minute <= well + ill; minute += 1) {
      const isIll = minute > well;
      if (minute === well && cause !== gone) cause.begin(machine, trouble);
      scrapes.add(minute, isIll && cause === gone ? undefined : (await page('/metrics')).text);
      await platform.clock.advance(minuteMs);
    }
  });
  return { series: scrapes.written(well + ill + 1), well, last: well + ill };
}

describe.skipIf(promtool.skip)(`the heads of examples/configurations${promtool.note}`, () => {
  it.each(cases)('$name: Prometheus takes the scrape configuration', ({ scrape }) => {
    expect(scrape).toContain('job_name: newrelic');
    expect(complaintOf(promtool.path, 'config', scrape)).toBe('');
  });

  it.each(cases)('$name: Prometheus takes the alert', ({ alert }) => {
    expect(alert).toContain('- alert: ');
    expect(complaintOf(promtool.path, 'rules', alert)).toBe('');
  });

  it.each(cases)('$name: the alert fires when its cause is there, and not before', async (one) => {
    const { groups } = rulesSchema.parse(parse(one.alert));
    const [{ alert, expr }] = groups[0].rules;
    const { series, well, last } = await recordingOf(one, expr);
    const firesAt = (...minutes: readonly number[]): string =>
      promtoolComplaint(
        promtool.path,
        {
          interval: '1m',
          input_series: series,
          alert_rule_test: minutes.map((minute) => ({
            eval_time: `${minute}m`,
            alertname: alert,
            exp_alerts: [],
          })),
        },
        groups,
      );

    expect(firesAt(...Array.from({ length: well }, (_, minute) => minute + 1))).toBe('');
    expect(firesAt(last)).toContain(`alertname="${alert}"`);
  });
});
