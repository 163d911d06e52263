import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';

async function warningsOf(text: string): Promise<readonly string[]> {
  const { warnings } = await parseConfig(text, { fileName: 'config.yaml', directory: '/' });
  return warnings.map(({ line, message }) => `${line}: ${message}`);
}

const start = 'the names and values of the metrics do not fit into one call: a poll takes';

/** A metric of which two do not fit into one URL. */
function long(index: number, keys = ''): string {
  return `{metric: "${'あ'.repeat(250)}${index}", value: s, as: long_${index}, ${keys}}`;
}

describe('parseConfig, with metrics that take several calls', () => {
  const two = `[${long(1)}, ${long(2)}]`;

  it.each([
    {
      entry: `metrics: ${two}`,
      calls: '2 calls instead of 1 for the application and for each of its hosts',
    },
    { entry: `hosts: false, metrics: ${two}`, calls: '2 calls instead of 1 for the application' },
    {
      entry: `application: false, metrics: ${two}`,
      calls: '2 calls instead of 1 for each host of the application',
    },
    {
      entry: `metrics: [${long(1)}, ${long(2, 'for: hosts')}, ${long(3)}]`,
      calls: '2 calls instead of 1 for the application and 3 for each of its hosts',
    },
    {
      entry: `metrics: [${long(1)}, ${long(2, 'for: applications')}]`,
      calls: '2 calls instead of 1 for the application',
    },
  ])('says how many: $calls', async ({ entry, calls }) => {
    expect(await warningsOf(`apps: [{id: 1, ${entry}}]`)).toEqual([`1: ${start} ${calls}`]);
  });

  it('says it once of a list that several entries have, with the most calls', async () => {
    const text = `poll:
  metrics: &m ${two}
apps:
  - {id: 1, hosts: false}
  - {id: 2, application: false}
  - {id: 3, metrics: *m, hosts: false}
  - {id: 4, metrics: [apdex, ${long(1)}]}`;

    expect(await warningsOf(text)).toEqual([
      `2: ${start} 2 calls instead of 1 for each application and for each of its hosts`,
    ]);
  });

  it('says nothing of accounts with NerdGraph', async () => {
    const accounts = 'accounts: [{name: a, api_key_env: K, source: nerdgraph, account_id: 1}]';

    expect(await warningsOf(`${accounts}\napps: [{id: 1, metrics: ${two}}]`)).toEqual([]);
  });

  it('says nothing of all presets in one list', async () => {
    const all = 'throughput, response_time, errors, apdex, database, external, memory, cpu';

    expect(await warningsOf(`apps: [{id: 1, metrics: [${all}]}]`)).toEqual([]);
  });
});

describe('parseConfig, with names of gauges that state a unit', () => {
  const named = async (value: string, as: string, scale = 1): Promise<readonly string[]> =>
    warningsOf(
      `apps: [{id: 1, metrics: [{metric: M, value: ${value}, as: ${as}, scale: ${scale}}]}]`,
    );

  it.each([
    { value: 'average_time', as: 'x_seconds' },
    { value: 'average_time', as: 'x_ms', scale: 1000 },
    { value: 'average_time', as: 'x_milliseconds', scale: 1000 },
    { value: 'average_time', as: 'x_seconds', scale: 0.125 },
    { value: 'average_time', as: 'x' },
    { value: 'total_used_mb', as: 'x_bytes' },
    { value: 'percent', as: 'x_ratio' },
    { value: 'percent', as: 'x_percent', scale: 100 },
    { value: 'errors_per_minute', as: 'x_per_minute' },
    { value: 'throughput', as: 'x_per_second' },
    { value: 'throughput', as: 'x_per_minute', scale: 60 },
    { value: 'total_call_time_per_minute', as: 'x_seconds_per_minute' },
    { value: 'total_call_time_per_minute', as: 'x_per_minute' },
    { value: 'average_value', as: 'x_bytes' },
    { value: 'rate', as: 'x_per_minute' },
    { value: 'count', as: 'newrelic_application_ratio_count_of_bytes_read' },
  ])('allows $as for $value with the scale $scale', async ({ value, as, scale }) => {
    expect(await named(value, as, scale)).toEqual([]);
  });

  it('warns once of a list with an alias', async () => {
    const list = '&m [{metric: M, value: s, as: x_ms}]';
    const text = `poll: {metrics: ${list}}\napps: [{id: 1}, {id: 2, metrics: *m}]`;

    expect(await warningsOf(text)).toHaveLength(1);
  });
});

describe('parseConfig, with metrics that are not read', () => {
  const ofHosts = '{metric: M, value: s, as: x, for: hosts}';

  it('does not warn of them in poll, which other entries may need', async () => {
    const text = `poll: {metrics: [apdex, ${ofHosts}]}\napps: [{id: 1, hosts: false}]`;

    expect(await warningsOf(text)).toEqual([]);
  });

  it('warns of a list in poll that no entry uses', async () => {
    const list = 'poll: {metrics: [apdex]}';
    const own = '{id: 1, metrics: [errors]}';

    expect(await warningsOf(`${list}\napps: [${own}]`)).toEqual([
      '1: "metrics" has no effect here: every entry of apps has its own',
    ]);
    expect(await warningsOf(`${list}\napps: [${own}, {id: 2}]`)).toEqual([]);
  });
});
