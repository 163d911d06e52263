import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { labelValueOf } from '../../src/model/label-value.ts';
import {
  type Labels,
  renderBeside,
  renderHeader,
  renderLabels,
  renderSamples,
} from '../../src/publish/render.ts';

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
            labels: [...before, ...(own[index] ?? []), ...after].map(
              ([key, any]) => [key, labelValueOf(any)] as const,
            ),
            value,
          })),
        );
        expect(rendered).toBe(expected);
      }),
    );
  });
});

describe('renderBeside', () => {
  it.each([
    { own: [['env', 'own']], after: 'team="a"' },
    // A facet without a value: with the shared one it could be that of another row.
    { own: [['env', '']], after: 'team="a"' },
    { own: [['other', 'own']], after: 'env="live",team="a"' },
    { own: [], after: 'env="live",team="a"' },
  ] as const)('has no label of others beside one of its own: $own', ({ own, after }) => {
    const shared = { env: 'live', team: 'a' };

    expect(renderBeside(own, shared)).toEqual({ labels: renderLabels(own), after });
  });
});

const anyUnits = fc
  .array(fc.nat(0xff_ff), { maxLength: 400 })
  .map((units) => String.fromCharCode(...units));

describe('labelValueOf', () => {
  it.each(['Checkout (production)', String.raw`a "b" \c`, 'Käse 日本 🧀', '', 'a\u2028b\u2029c'])(
    'leaves alone: %s',
    (text) => {
      expect(labelValueOf(text)).toBe(text);
    },
  );

  it('replaces controls, half characters and what reorders the text around it', () => {
    const controls = ['\u0000', '\n', '\r', '\t', '\u007F', '\u009B'];
    const directions = ['\u202A', '\u202E', '\u2066', '\u2069'];
    const unsafe = [...controls, ...directions, '\uD83D', '\uDE00'];

    expect(unsafe.map((one) => labelValueOf(`a${one}b`))).toEqual(unsafe.map(() => 'a\uFFFDb'));
  });

  it('keeps 256 code points and cuts at one more', () => {
    const longest = '🧀'.repeat(256);

    expect(labelValueOf(longest)).toBe(longest);
    expect(labelValueOf(`${longest}x`)).toMatch(/^🧀{243}~[0-9a-f]{12}$/u);
  });

  it('counts the last code point of one UTF-16 unit as one', () => {
    const value = labelValueOf('\uFFFF'.repeat(300));

    expect(value).toMatch(/^\uFFFF{243}~[0-9a-f]{12}$/u);
  });

  it('keeps long texts apart that differ only after the cut or in replaced characters', () => {
    const texts = ['x', 'y', '\uD800', '\uD801', '\u0000'].map((end) => 'a'.repeat(300) + end);

    expect(new Set(texts.map(labelValueOf)).size).toBe(texts.length);
  });

  it('makes the same short, well-formed text of any UTF-16 each time', () => {
    fc.assert(
      fc.property(anyUnits, (text) => {
        const value = labelValueOf(text);

        expect(Array.from(value)).toHaveLength(Math.min(256, Array.from(text).length));
        expect(value).not.toMatch(/[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u);
        expect(labelValueOf(text)).toBe(value);
      }),
    );
  });
});
