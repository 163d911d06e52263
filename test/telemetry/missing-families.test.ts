import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { MissingMetric } from '../../src/model/telemetry.ts';
import {
  createMissingEntries,
  createMissingMetrics,
} from '../../src/telemetry/missing-families.ts';

interface Account {
  readonly name: string;
  readonly missingSelectors: readonly string[];
}

async function asPromClientHasIt(accounts: readonly Account[]): Promise<string> {
  const registry = new Registry();
  const gauge = new Gauge({
    name: 'newrelic_exporter_app_missing',
    help: '1 for an entry of the configuration that matches nothing in the account.',
    labelNames: ['account', 'selector'],
    registers: [registry],
  });
  for (const { name: account, missingSelectors } of accounts) {
    for (const selector of missingSelectors) gauge.set({ account, selector }, 1);
  }
  return registry.metrics();
}

const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', '\\', '\n', 'a', 'é') }));

describe('createMissingEntries', () => {
  it('prints what prom-client would print, whatever the selectors are', async () => {
    const accounts = fc.uniqueArray(
      fc.record({ name: text, missingSelectors: fc.array(text, { maxLength: 5 }) }),
      { maxLength: 3, selector: ({ name }) => name },
    );

    await fc.assert(
      fc.asyncProperty(accounts, async (all) => {
        expect(createMissingEntries().text(all)).toBe(await asPromClientHasIt(all));
      }),
    );
  });

  it('follows lists that change, and accounts that come and go', () => {
    const metric = createMissingEntries();
    const series = (accounts: readonly Account[]): readonly string[] =>
      metric
        .text(accounts)
        .split('\n')
        .filter((line) => line.startsWith(metric.name));

    const first = series([{ name: 'a', missingSelectors: ['id=1', 'id=1', 'id=2'] }]);
    const second = series([
      { name: 'a', missingSelectors: ['id=2'] },
      { name: 'b', missingSelectors: ['name=shop'] },
    ]);
    const third = series([{ name: 'b', missingSelectors: [] }]);

    expect(first).toEqual([
      'newrelic_exporter_app_missing{account="a",selector="id=1"} 1',
      'newrelic_exporter_app_missing{account="a",selector="id=2"} 1',
    ]);
    expect(second).toEqual([
      'newrelic_exporter_app_missing{account="a",selector="id=2"} 1',
      'newrelic_exporter_app_missing{account="b",selector="name=shop"} 1',
    ]);
    expect(third).toEqual([]);
  });

  it('reads a list only once, since a list never changes', () => {
    const metric = createMissingEntries();
    let looks = 0;
    const missingSelectors: readonly string[] = new Proxy(['id=1'], {
      get: (list, property, receiver) => {
        if (property === Symbol.iterator) looks += 1;
        return Reflect.get(list, property, receiver) as unknown;
      },
    });

    const texts = [1, 2, 3].map(() => metric.text([{ name: 'a', missingSelectors }]));

    expect(new Set(texts).size).toBe(1);
    expect(looks).toBe(1);
  });
});

describe('createMissingMetrics', () => {
  const metric = {
    selector: 'match=^checkout"\\d',
    name: 'checkout_queue_depth',
    metric: 'Custom/Queue "Depth"',
    value: 'average_value',
  } as const;
  const linesOf = (missingMetrics: readonly MissingMetric[]): readonly string[] =>
    createMissingMetrics()
      .text([{ name: 'production', missingMetrics }])
      .split('\n')
      .slice(2, -1);

  it('names the entry, the gauge, and what New Relic was asked for', () => {
    expect(linesOf([metric])).toEqual([
      String.raw`newrelic_exporter_metric_missing{account="production",selector="match=^checkout\"\\d",name="checkout_queue_depth",metric="Custom/Queue \"Depth\"",value="average_value"} 1`,
    ]);
  });

  it('shows at most a thousand of an account, each once, however long their names are', () => {
    const many = Array.from({ length: 3000 }, (_, index) => ({ ...metric, name: `x_${index}` }));
    const alike = ['a', 'b'].map((end) => ({ ...metric, metric: 'x'.repeat(10_000) + end }));

    expect(linesOf(many)).toHaveLength(1000);
    expect(linesOf(alike)).toHaveLength(1);
    expect(linesOf(alike).join('').length).toBeLessThan(500);
  });
});
