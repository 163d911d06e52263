import { describe, expect, it } from 'vitest';
import { findingOf, findingsText } from '../../src/tools/check-finding.ts';

const place = {
  fileName: 'c.yaml',
  line: 12,
  column: 5,
  length: 3,
  sourceLine: '    abc: 1',
};
const findings = [
  findingOf('ok', 'accepted', { account: 'main' }),
  findingOf('error', 'wrong', { place, remedy: 'do this:\n  that' }),
];

describe('findingsText', () => {
  it('numbers the findings, each with its place and its remedy below it', () => {
    expect(findingsText(findings)).toBe(
      [
        '1 ok      account main: accepted',
        '2 error   c.yaml:12:5: wrong',
        '    12 |     abc: 1',
        '       |     ^^^',
        '    = help: do this:',
        '        that',
        '',
      ].join('\n'),
    );
  });
});
