import { describe, expect, it } from 'vitest';
import { familiesOf, upFamily } from '../../src/publish/families.ts';
import { toOpenMetrics } from '../../src/publish/page.ts';
import { renderHeader } from '../../src/publish/render.ts';
import { throughputSeries } from '../support/builders.ts';
import { parseOpenMetrics } from '../support/exposition-parser.ts';

// The self-metrics, of which prom-client gives the text, have the same series in both formats.
describe('toOpenMetrics', () => {
  it.each([
    {
      what: 'the name of a counter without _total, but not of its samples',
      text: '# HELP a_total Calls.\n# TYPE a_total counter\na_total{b="a_total"} 1\n',
      open: '# HELP a Calls.\n# TYPE a counter\na_total{b="a_total"} 1\n',
    },
    {
      what: 'other names as they are',
      text: '# HELP a_total_x A.\n# TYPE a_total_x counter\n# HELP total B.\n# TYPE total gauge\n',
      open: '# HELP a_total_x A.\n# TYPE a_total_x counter\n# HELP total B.\n# TYPE total gauge\n',
    },
    {
      what: 'quotes in a help text with an escape, and what looks like a type as it is',
      text: '# HELP a Say "b" \\\\ # TYPE b counter\n# TYPE a gauge\na{c="\\"d\\""} 1\n',
      open: '# HELP a Say \\"b\\" \\\\ # TYPE b counter\n# TYPE a gauge\na{c="\\"d\\""} 1\n',
    },
  ])('has $what, and an end', ({ text, open }) => {
    expect(toOpenMetrics(text)).toBe(`${open}# EOF\n`);
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
