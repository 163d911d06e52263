import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import type { Query } from '../../src/model/config.ts';
import { windowAt } from '../../src/model/window.ts';
import { aNerdgraphAccount } from '../simulator/nerdgraph-account.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { printed } from '../tools/survey/ask-bench.ts';
import { readDocument } from './documents.ts';
import { goodConfigsIn } from './example-rule.ts';
import { codeBlocksIn } from './markdown.ts';

const { text } = readDocument('docs/queries.md');
const account = aNerdgraphAccount({ applications: 12, hosts: 40 });

async function queriesIn(configs: readonly string[]): Promise<readonly Query[]> {
  const place = { fileName: 'config.yaml', directory: '/' };
  const read = await Promise.all(configs.map(async (config) => parseConfig(config, place)));
  return read.flatMap(({ config }) => config.queries ?? []);
}

/** The numbers that a value of a row becomes. */
function numbersIn(value: unknown, { gives, percentages }: Query['gauges'][number]): unknown[] {
  const members = new Map(Object.entries(Object(value)));
  if (gives === 'apdex') return [members.get('score')];
  if (gives === 'percentiles') return percentages.map((one) => members.get(String(one)));
  return [value];
}

const queries = await queriesIn(goodConfigsIn(text));

describe('docs/queries.md', () => {
  it('has ten queries in its cookbook', async () => {
    expect(await queriesIn(goodConfigsIn(text).slice(-1))).toHaveLength(10);
  });

  it.each(queries)(
    '$account, $name: brings rows with a value for each gauge and facet',
    ({ nrql, gauges, facets, poll }) => {
      const window = windowAt(account.clock.wallMs(), poll.window, poll.delayMs);
      const { results } = account.nrql(`${nrql} SINCE ${window?.fromMs} UNTIL ${window?.toMs}`);

      expect(results.length).toBeGreaterThan(0);
      for (const row of results) {
        for (const { name } of facets) expect(row[name]).toBeTypeOf('string');
      }
      for (const gauge of gauges) {
        const numbers = results.flatMap((row) => numbersIn(row[gauge.member], gauge));
        expect(numbers.filter((number) => typeof number === 'number')).not.toEqual([]);
        expect(numbers.filter((number) => !['number', 'object'].includes(typeof number))).toEqual(
          [],
        );
      }
    },
  );

  it('begins with what the command prints of monitors', async () => {
    const [first = ''] = goodConfigsIn(text);
    const flags = ['--entities=SYNTH-MONITOR', '-o', 'yaml'];
    const { stdout } = await printed(['discover', ...flags, 'c.yaml'], { 'c.yaml': first });

    expect(first.endsWith(stdout)).toBe(true);
    expect(stdout).toContain('synth_monitor_failures');
  });

  it('shows the gauges, help and labels that the query above them makes', () => {
    const page = codeBlocksIn(text).find((block) => block.text.startsWith('# HELP'))?.text ?? '';
    const shown = parseExposition(Buffer.from(page)).map(({ name, type, help, samples }) => ({
      name,
      type,
      help,
      labels: [...new Set(samples.map(({ labels }) => labels.map(([label]) => label).join()))],
      quantiles: [
        ...new Set(samples.flatMap(({ labels }) => new Map(labels).get('quantile') ?? [])),
      ],
    }));

    const above = queries.find(({ gauges }) => gauges.length === 2);
    expect(shown).toEqual(above === undefined ? [] : familiesOf(above));
    expect(shown).toHaveLength(2);
  });
});

function familiesOf({ gauges, facets, labels: constant, help }: Query): readonly object[] {
  return gauges
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name, gives, percentages }) => ({
      name,
      type: 'gauge',
      help: `${help} Polled in the background and cached.`,
      labels: [
        [
          'account',
          ...facets.map(({ label }) => label),
          ...(gives === 'percentiles' ? ['quantile'] : []),
          ...Object.keys(constant),
        ].join(),
      ],
      quantiles: percentages.map((percentage) => String(percentage / 100)),
    }));
}
