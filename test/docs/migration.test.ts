import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { PlainConfig } from '../../src/model/config.ts';
import { toolOrSkip } from '../support/tools.ts';
import { readDocument } from './documents.ts';
import { goodConfigsIn } from './example-rule.ts';
import { codeBlocksIn, codeWordsIn, rowsWith } from './markdown.ts';
import { promtoolComplaint, rulesOf } from './promtool-rule.ts';

const { text } = readDocument('docs/migration.md');
const promtool = toolOrSkip('promtool');

/** The keys of mrf/newrelic_exporter that the example has. */
const oldSchema = z.object({
  'api.server': z.string(),
  'api.period': z.number(),
  'api.timeout': z.string(),
  'api.apps-list-cache-time': z.string(),
  'api.include-apps': z.array(
    z.object({ id: z.number().transform(String).optional(), name: z.string().optional() }),
  ),
  'api.include-metric-filters': z.array(z.string()),
  'debug.proxy-address': z.string(),
});

function blockThatBegins(firstLine: string): string {
  const blocks = codeBlocksIn(text).map((block) => block.text);
  return blocks.find((block) => block.startsWith(`${firstLine}\n`)) ?? '';
}

async function configFrom(number: number): Promise<PlainConfig> {
  const where = { fileName: 'config.yaml', directory: '/' };
  return (await parseConfig(goodConfigsIn(text)[number] ?? '', where)).config;
}

const minuteMs = 60_000;
const secondMs = 1000;

describe('the translated configuration', () => {
  const old = oldSchema.parse(parse(blockThatBegins('# newrelic_exporter.yml')));

  it('of mrf/newrelic_exporter has the same account', async () => {
    const { accounts } = await configFrom(0);

    expect(accounts).toMatchObject([
      {
        baseUrl: old['api.server'],
        timeoutMs: Number.parseInt(old['api.timeout'], 10) * secondMs,
        proxyUrl: old['debug.proxy-address'],
      },
    ]);
  });

  it('of mrf/newrelic_exporter has the same applications, window and metrics', async () => {
    const { apps } = await configFrom(0);
    const cachedFor = Number.parseInt(old['api.apps-list-cache-time'], 10) * minuteMs;

    expect(apps.map(({ selector }) => selector)).toMatchObject(old['api.include-apps']);
    expect(apps.map(({ hosts }) => hosts)).toEqual(apps.map(() => false));
    for (const { poll, transactions } of apps) {
      expect(poll.window).toEqual({ kind: 'range', lengthMs: old['api.period'] * secondMs });
      expect(poll.discoveryIntervalMs).toBe(cachedFor);
      expect(transactions).toHaveLength(old['api.include-metric-filters'].length);
    }
  });

  it('of jfindley/newrelic_exporter has the same period and every application', async () => {
    const { apps } = await configFrom(1);
    const period = /-api\.period=(\d+)/.exec(text)?.[1];

    expect(apps).toMatchObject([
      {
        selector: { kind: 'match', pattern: { source: '.' } },
        poll: { window: { lengthMs: Number(period) * secondMs } },
      },
    ]);
  });

  it('keeps the name of every key of the old file in the table', () => {
    const documented = new Set(
      rowsWith(text, ['mrf', 'newrelic-exporter'])
        .flatMap(({ mrf }) => codeWordsIn(mrf))
        .map((word) => word.split(':')[0]),
    );

    expect(
      Object.keys(parse(blockThatBegins('# newrelic_exporter.yml'))).filter(
        (key) => !documented.has(key),
      ),
    ).toEqual([]);
  });
});

describe.skipIf(promtool.skip)(`promtool${promtool.note}`, () => {
  it('accepts the rules with the old names', () => {
    const rules = blockThatBegins('# old-names.rules.yml');

    expect(rules).toContain('record: newrelic_requests_per_minute');
    expect(promtoolComplaint(promtool.path, 'rules', rules)).toBe('');
  });

  it('accepts every old and new query of the table', () => {
    const queries = rowsWith(text, ['old query', 'new query']).flatMap((row) => [
      ...codeWordsIn(row['old query']),
      ...codeWordsIn(row['new query']),
    ]);

    expect(queries.length).toBeGreaterThan(8);
    expect(promtoolComplaint(promtool.path, 'rules', rulesOf(queries))).toBe('');
  });
});
