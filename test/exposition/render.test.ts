import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import {
  type Labels,
  renderHeader,
  renderLabels,
  renderSamples,
} from '../../src/exposition/render.ts';

const name = 'newrelic_test';
const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'n', ' ', '\u0000', '\uD800', '🧀', '}') }),
);
const finite = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 1_756_719_000.123),
);
const series = fc.record({ label: nasty, value: finite });

async function printedByPromClient(
  help: string,
  samples: readonly { readonly labels: Labels; readonly value: number }[],
): Promise<string> {
  const registry = new Registry();
  const labelNames = samples.flatMap(({ labels }) => labels.map(([label]) => label));
  const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
  for (const { labels, value } of samples) gauge.set(Object.fromEntries(labels), value);
  return registry.metrics();
}

describe('renderSamples', () => {
  it('prints any labels and any finite number as prom-client does, byte for byte', async () => {
    const help = nasty.filter((text) => text !== '');
    const many = fc.array(series, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(help, nasty, nasty, many, async (text, first, last, all) => {
        const before: Labels = [['a', first]];
        const after: Labels = [['z', last]];
        const own = all.map(
          ({ label }, index): Labels => [
            ['m', String(index)],
            ['n', label],
          ],
        );

        const rendered =
          renderHeader(name, text) +
          renderSamples(
            name,
            { before: renderLabels(before), after: renderLabels(after) },
            all.map(({ value }, index) => ({ labels: renderLabels(own[index] ?? []), value })),
          );

        const expected = await printedByPromClient(
          text,
          all.map(({ value }, index) => ({
            labels: [...before, ...(own[index] ?? []), ...after],
            value,
          })),
        );
        expect(rendered).toBe(expected);
      }),
    );
  });

  it.each([
    { what: 'no labels at all', before: '', own: '', after: '', line: 'newrelic_test 1\n' },
    {
      what: 'labels before only',
      before: 'a="1"',
      own: '',
      after: '',
      line: 'newrelic_test{a="1"} 1\n',
    },
    {
      what: 'own labels only',
      before: '',
      own: 'a="1"',
      after: '',
      line: 'newrelic_test{a="1"} 1\n',
    },
    {
      what: 'labels after only',
      before: '',
      own: '',
      after: 'a="1"',
      line: 'newrelic_test{a="1"} 1\n',
    },
    {
      what: 'before and after',
      before: 'a="1"',
      own: '',
      after: 'z="2"',
      line: 'newrelic_test{a="1",z="2"} 1\n',
    },
  ])('puts commas only between labels: $what', ({ before, own, after, line }) => {
    expect(renderSamples(name, { before, after }, [{ labels: own, value: 1 }])).toBe(line);
  });
});
