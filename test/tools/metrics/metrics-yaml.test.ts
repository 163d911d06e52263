import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../../src/config/load-config.ts';
import { valueNames } from '../../../src/model/vendor-value.ts';
import { metricsYaml } from '../../../src/tools/metrics/metrics-yaml.ts';
import type { ListedMetric } from '../../../src/tools/survey/metric-lists.ts';

interface Custom {
  readonly metric: string;
  readonly value: string;
  readonly as: string;
  readonly for?: string;
}

function activeIn(yaml: string): readonly (string | Custom)[] {
  return (parse(yaml) as { readonly metrics: readonly (string | Custom)[] }).metrics;
}

/** As it would be with every comment that can be a line. */
function uncommented(yaml: string): string {
  return yaml.replaceAll('  # - ', '  - ');
}

const calls = ['average_response_time', 'average_call_time', 'call_count', 'requests_per_minute'];

/** What the configuration of one application says of a list of metrics. */
async function checked(yaml: string): Promise<readonly string[]> {
  const list = yaml.trimEnd().split('\n').join('\n    ');
  const text = `accounts: [{ name: main, api_key_env: KEY }]\napps:\n  - name: shop\n    ${list}\n`;
  const { warnings } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  return warnings.map(({ message }) => message);
}

/** All values, as metrics of every kind may have them. */
const ofEveryKind: readonly ListedMetric[] = [
  { name: 'Custom/a b', values: valueNames },
  { name: 'custom/A.B', values: valueNames.slice(10) },
  { name: 'Host/Custom/a b', values: valueNames.toReversed() },
  { name: 'Memory/Heap/Used', values: ['used_mb_by_host', 'total_used_mb', 'average_value'] },
  { name: 'hosts', values: ['call_count', 'score', 'percent'] },
  { name: '漢字', values: ['rate', 's', 't', 'f'] },
];

describe('metrics as YAML', () => {
  it('has presets for what they read, the usual one always, and the rest as comments', () => {
    const yaml = metricsYaml(
      [
        { name: 'Apdex', values: ['score', 'value'] },
        { name: 'Custom/x', values: undefined },
        { name: 'Custom/Depth', values: ['average_value'] },
      ],
      { isOfHost: false },
    );

    expect(yaml).toBe(`metrics:
  - throughput
  - apdex
  # "Apdex": the exporter does not know "value"
  # "Custom/x": NerdGraph does not tell which values it has
  # - { metric: "Custom/Depth", value: average_value, as: app_custom_average_value, labels: { name: "Depth" } }
`);
  });

  it.each([false, true])(
    'is accepted by the check of the configuration, with its comments too; of a host: %s',
    async (isOfHost) => {
      const yaml = metricsYaml(ofEveryKind, { isOfHost });

      expect(activeIn(uncommented(yaml)).length).toBeGreaterThan(2 * valueNames.length);
      expect(await checked(yaml)).toEqual([]);
      expect(await checked(uncommented(yaml))).toEqual([]);
    },
  );

  it('has a name of its own for each value, and none that is the same as another', () => {
    const metrics = ['A', 'a'].map((name) => ({ name, values: calls }));

    const yaml = uncommented(metricsYaml(metrics, { isOfHost: true }));

    const all = activeIn(yaml).filter((one) => typeof one !== 'string');
    // The time of a call is the response time under another name.
    expect(all.map(({ metric, value }) => `${metric} ${value}`)).toEqual(
      ['A', 'a'].flatMap((name) =>
        ['average_response_time', 'call_count', 'requests_per_minute'].map(
          (value) => `${name} ${value}`,
        ),
      ),
    );
    expect(new Set(all.map(({ as }) => as)).size).toBe(all.length);
    expect(new Set(all.map((one) => one.for))).toEqual(new Set(['hosts']));
  });

  it.each(['line\nfeed\r\ttab', 'half a \uD83D character', 'escape \u001B[31m', 'x'.repeat(256)])(
    'leaves out a name that a configuration cannot have, on one line: %j',
    (name) => {
      const yaml = metricsYaml([{ name, values: ['average_value'] }], { isOfHost: false });

      expect(activeIn(uncommented(yaml))).toEqual(['throughput']);
      expect(yaml).toMatch(/\n {2}# ".*": a configuration cannot have this name\n$/u);
      expect(yaml.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    },
  );

  it.each([
    'a "b" \\ c',
    "it's # {no}: [comment], &x *y !z %w @v `u`",
    'bidi\u202Etfel 漢字 🚀 \u{E0041}',
    '- ? : | >',
  ])('has a name exactly as it is, on one line: %j', (name) => {
    const yaml = metricsYaml([{ name, values: ['average_value', 'odd\nvalue'] }], {
      isOfHost: false,
    });

    expect(activeIn(uncommented(yaml)).at(-1)).toMatchObject({ metric: name });
    expect(yaml.trimEnd().split('\n')).toHaveLength(4);
    expect(yaml.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });
});
