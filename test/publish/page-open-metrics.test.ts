import fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { familiesOf, upFamily } from '../../src/publish/families.ts';
import { toOpenMetrics } from '../../src/publish/page.ts';
import { renderHeader } from '../../src/publish/render.ts';
import { throughputSeries } from '../support/builders.ts';
import {
  type ParsedFamily,
  parseExposition,
  parseOpenMetrics,
} from '../support/exposition-parser.ts';

const anyText = fc.string({ unit: fc.constantFrom('"', '\\', '\n', 'a', ' ', '# TYPE b counter') });
const name = fc.constantFrom('a', 'b', 'calls', 'calls_seconds', 'total', 'x_total_bytes');

interface Described {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  readonly value: number;
}

const described: fc.Arbitrary<Described> = fc.record({
  name,
  help: anyText.filter((text) => text !== ''),
  label: anyText,
  value: fc.integer({ min: 0, max: 2000 }),
});

/** A page in which each family is a counter, a gauge and a histogram at a time. */
async function aTextPage(families: readonly Described[]): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['label'];
  for (const { name: base, help, label, value } of families) {
    const gauge = new Gauge({ name: `${base}_now`, help, labelNames, registers });
    gauge.set({ label }, value);
    const counter = new Counter({ name: `${base}_total`, help, labelNames, registers });
    counter.inc({ label }, value);
    const buckets = [0.5, 1, 30];
    new Histogram({ name: `${base}_size`, help, labelNames, registers, buckets }).observe(
      { label },
      value,
    );
  }
  // Without blank lines, and with bounds as OpenMetrics has them.
  const text = (await registry.metrics()).replaceAll('\n\n', '\n');
  return text.replaceAll('{le="1"', '{le="1.0"').replaceAll('{le="30"', '{le="30.0"');
}

/** A family as OpenMetrics calls it. */
function asOpenMetrics(family: ParsedFamily): ParsedFamily {
  return family.type === 'counter'
    ? { ...family, name: family.name.replace(/_total$/u, '') }
    : family;
}

describe('toOpenMetrics', () => {
  it('keeps all families, help texts, samples, labels and values', async () => {
    const pages = fc.uniqueArray(described, {
      minLength: 1,
      maxLength: 3,
      selector: (family) => family.name,
    });
    await fc.assert(
      fc.asyncProperty(pages, async (families) => {
        const text = await aTextPage(families);

        const open = parseOpenMetrics(Buffer.from(toOpenMetrics(text)));

        expect(open).toEqual(parseExposition(Buffer.from(text)).map(asOpenMetrics));
      }),
    );
  });

  it('changes nothing in the families of New Relic data, so that one page serves both formats', () => {
    const heads = [upFamily, ...familiesOf(throughputSeries)].map((family) =>
      renderHeader(family.name, family.help),
    );

    const open = toOpenMetrics(heads.join(''));

    expect(open).toBe(`${heads.join('')}# EOF\n`);
    expect(parseOpenMetrics(Buffer.from(open))).toHaveLength(heads.length);
  });
});
