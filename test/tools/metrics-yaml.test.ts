import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { ListedMetric } from '../../src/model/metric-list.ts';
import { valueNames } from '../../src/model/vendor-value.ts';
import { metricsYaml } from '../../src/tools/metrics-yaml.ts';

interface Custom {
  readonly metric: string;
  readonly value: string;
  readonly as: string;
  readonly for?: string;
}

function inForce(yaml: string): readonly (string | Custom)[] {
  return (parse(yaml) as { readonly metrics: readonly (string | Custom)[] }).metrics;
}

/** As it would be with every line of the comments in force that can be. */
function uncommented(yaml: string): string {
  return yaml.replaceAll('  # - ', '  - ');
}

const calls = ['average_response_time', 'average_call_time', 'call_count', 'requests_per_minute'];

function manyOf(count: number): readonly ListedMetric[] {
  return Array.from({ length: count }, (_, index) => ({ name: `Custom/${index}`, values: calls }));
}

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
  it('has presets for what they read, and the most useful value of every other metric', () => {
    const yaml = metricsYaml(
      [
        { name: 'HttpDispatcher', values: calls },
        { name: 'Apdex', values: ['score'] },
        { name: 'WebFrontend/QueueTime', values: calls.toSorted() },
        { name: 'Custom/Depth', values: ['requests_per_minute', 'average_value'] },
      ],
      { isOfHost: false },
    );

    expect(inForce(yaml)).toEqual([
      'throughput',
      'response_time',
      'apdex',
      {
        metric: 'WebFrontend/QueueTime',
        value: 'average_response_time',
        as: 'newrelic_application_webfrontend_queuetime_average_response_time_seconds',
      },
      {
        metric: 'Custom/Depth',
        value: 'average_value',
        as: 'newrelic_application_custom_depth_average_value',
      },
    ]);
  });

  it('is accepted by the check of the configuration, without a warning', async () => {
    expect(await checked(metricsYaml(ofEveryKind, { isOfHost: false }))).toEqual([]);
    expect(await checked(metricsYaml(ofEveryKind, { isOfHost: true }))).toEqual([]);
  });

  it('is accepted with all its comments in force, too', async () => {
    const yaml = uncommented(metricsYaml(ofEveryKind, { isOfHost: false }));

    expect(inForce(yaml).length).toBeGreaterThan(2 * valueNames.length);
    expect(await checked(yaml)).toEqual([]);
  });

  it('keeps what an entry has without it', () => {
    const yaml = metricsYaml([{ name: 'Apdex', values: ['score'] }], { isOfHost: false });

    expect(yaml).toBe('metrics:\n  - throughput\n  - apdex\n');
  });

  it('offers further values as comments, each with a name of its own', () => {
    const yaml = metricsYaml(
      [
        { name: 'A', values: calls },
        { name: 'a', values: calls },
      ],
      {
        isOfHost: false,
      },
    );

    const all = inForce(uncommented(yaml)).filter((one) => typeof one !== 'string');
    // The time of a call is the response time under another name.
    expect(all.map(({ metric, value }) => `${metric} ${value}`)).toEqual(
      ['A', 'a'].flatMap((name) =>
        ['average_response_time', 'requests_per_minute', 'call_count'].map(
          (value) => `${name} ${value}`,
        ),
      ),
    );
    expect(new Set(all.map(({ as }) => as)).size).toBe(all.length);
    expect(inForce(yaml)).toHaveLength(3);
  });

  it.each(['Errors/all', 'Datastore/all'])(
    'does not propose a sum beside its parts: %s',
    (name) => {
      const yaml = metricsYaml([{ name, values: ['requests_per_minute'] }], { isOfHost: false });

      expect(inForce(yaml)).toEqual(['throughput']);
      expect(yaml).toContain(`# - { metric: "${name}"`);
    },
  );

  it('is only for hosts if it was a host that was asked for', () => {
    const yaml = metricsYaml([{ name: 'A', values: ['average_value', 'rate'] }], {
      isOfHost: true,
    });

    expect(inForce(uncommented(yaml)).slice(1)).toEqual([
      expect.objectContaining({ value: 'average_value', for: 'hosts' }),
      expect.objectContaining({ value: 'rate', for: 'hosts' }),
    ]);
  });

  it('proposes nothing if there is too much to choose from', () => {
    const few = metricsYaml(manyOf(50), { isOfHost: false });
    const many = metricsYaml(manyOf(51), { isOfHost: false });

    expect(inForce(few)).toHaveLength(51);
    expect(inForce(many)).toEqual(['throughput']);
    expect(many).toContain('\n  # 51 metrics: remove the # of what you want.\n');
    expect(inForce(uncommented(many))).toHaveLength(1 + 51 * 3);
  });

  it('says what cannot be configured', () => {
    const yaml = metricsYaml(
      [
        { name: 'Apdex', values: ['score', 'value'] },
        { name: 'Custom/x', values: undefined },
      ],
      { isOfHost: false },
    );

    expect(inForce(yaml)).toEqual(['throughput', 'apdex']);
    expect(yaml).toContain('\n  # "Apdex": the exporter does not know "value"\n');
    expect(yaml).toContain('\n  # "Custom/x": NerdGraph does not tell which values it has\n');
  });

  it.each(['line\nfeed\r\ttab', 'half a \uD83D character', 'escape \u001B[31m', 'x'.repeat(256)])(
    'leaves out a name that a configuration cannot have, on one line: %j',
    (name) => {
      const yaml = metricsYaml([{ name, values: ['average_value'] }], { isOfHost: false });

      expect(inForce(yaml)).toEqual(['throughput']);
      expect(yaml.trimEnd().split('\n')).toHaveLength(3);
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

    expect(inForce(yaml).at(-1)).toMatchObject({ metric: name });
    expect(yaml.trimEnd().split('\n')).toHaveLength(4);
    expect(yaml.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });
});
