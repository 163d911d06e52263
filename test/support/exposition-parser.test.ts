import { describe, expect, it } from 'vitest';
import { parseExposition, parseOpenMetrics } from './exposition-parser.ts';

const header = '# HELP up Whether it is up.\n# TYPE up gauge\n';

describe('parseExposition', () => {
  it('reads help, type, labels, escapes and values', () => {
    const text = `# HELP up a\\\\b\\nc "d"\n# TYPE up gauge\nup{a="\\"\\\\\\n",b=""} 1e-7\nup -1.5\n`;

    expect(parseExposition(Buffer.from(text))).toEqual([
      {
        name: 'up',
        help: 'a\\b\nc "d"',
        type: 'gauge',
        samples: [
          {
            name: 'up',
            labels: [
              ['a', '"\\\n'],
              ['b', ''],
            ],
            value: 1e-7,
          },
          { name: 'up', labels: [], value: -1.5 },
        ],
      },
    ]);
  });

  it('reads histograms', () => {
    const text = '# TYPE t histogram\nt_bucket{le="+Inf"} 2\nt_sum 3\nt_count 2\n';

    expect(parseExposition(Buffer.from(text))[0]?.samples).toHaveLength(3);
  });

  it.each([
    { what: 'a missing last newline', reason: 'no end', text: `${header}up 1` },
    { what: 'a sample without TYPE', reason: 'Expected a sample of a family', text: 'up 1\n' },
    { what: 'HELP without TYPE', reason: 'HELP without TYPE', text: '# HELP up Whether.\nup 1\n' },
    {
      what: 'a family in two places',
      reason: 'appears twice',
      text: `${header}up 1\n# TYPE b gauge\nb 1\n${header}up{a="1"} 1\n`,
    },
    {
      what: 'a sample of another family',
      reason: 'Expected a sample of up',
      text: `${header}down 1\n`,
    },
    {
      what: 'a series twice',
      reason: 'series appears twice',
      text: `${header}up{a="1",b="2"} 1\nup{b="2",a="1"} 1\n`,
    },
    { what: 'a label twice', reason: 'Expected a only once', text: `${header}up{a="1",a="2"} 1\n` },
    { what: 'a bad label name', reason: 'in column 5', text: `${header}up{a-b="1"} 1\n` },
    { what: 'an unknown escape', reason: 'Unknown escape', text: `${header}up{a="\\t"} 1\n` },
    { what: 'an open label value', reason: 'Expected', text: `${header}up{a="1} 1\n` },
    { what: 'a trailing comma', reason: 'Expected a label name', text: `${header}up{a="1",} 1\n` },
    {
      what: 'a raw control character',
      reason: 'raw control character',
      text: `${header}up{a="\t"} 1\n`,
    },
    { what: 'a timestamp', reason: 'Not a value', text: `${header}up 1 1756720800000\n` },
    { what: 'no value', reason: 'Expected', text: `${header}up\n` },
    { what: 'undefined as value', reason: 'Not a value', text: `${header}up undefined\n` },
    { what: 'an unknown type', reason: 'Unknown type', text: '# TYPE up thing\nup 1\n' },
    { what: 'another comment', reason: 'Expected a metric name', text: `# EOF\n${header}up 1\n` },
  ])('refuses $what', ({ text, reason }) => {
    expect(() => parseExposition(Buffer.from(text))).toThrow(reason);
  });

  it('refuses bytes that are no UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from(`${header}up{a="`),
      Buffer.from([0xff]),
      Buffer.from('"} 1\n'),
    ]);

    expect(() => parseExposition(bytes)).toThrow('not valid');
  });
});

describe('parseOpenMetrics', () => {
  it('reads counters by the name of their family, escaped quotes and canonical bounds', () => {
    const text =
      '# HELP calls All \\"calls\\".\n# TYPE calls counter\ncalls_total{a="1"} 2\n' +
      '# TYPE t histogram\nt_bucket{le="1.0"} 2\nt_bucket{le="+Inf"} 2\nt_sum 3\nt_count 2\n# EOF\n';

    expect(parseOpenMetrics(Buffer.from(text))).toMatchObject([
      { name: 'calls', help: 'All "calls".', samples: [{ name: 'calls_total', value: 2 }] },
      { name: 't', samples: [{}, {}, {}, {}] },
    ]);
  });

  it.each([
    { what: 'a page without an end', reason: 'does not end', text: `${header}up 1\n` },
    { what: 'lines after the end', reason: 'does not end', text: `# EOF\n${header}up 1\n` },
    { what: 'two ends', reason: 'Expected a metric name', text: `${header}up 1\n# EOF\n# EOF\n` },
    { what: 'a blank line', reason: 'Expected', text: `${header}up 1\n\n# EOF\n` },
    {
      what: 'a counter by the name of its samples',
      reason: 'a sample of c_total',
      text: '# TYPE c_total counter\nc_total 1\n# EOF\n',
    },
    {
      what: 'a bound of the text format',
      reason: 'no le 1',
      text: '# TYPE t histogram\nt_bucket{le="1"} 2\n# EOF\n',
    },
    {
      what: 'raw quotes in a help text',
      reason: 'Raw quotes',
      text: '# HELP up "Up".\n# TYPE up gauge\nup 1\n# EOF\n',
    },
    { what: 'the old type', reason: 'Unknown type', text: '# TYPE a untyped\na 1\n# EOF\n' },
  ])('refuses $what', ({ text, reason }) => {
    expect(() => parseOpenMetrics(Buffer.from(text))).toThrow(reason);
  });
});
