import { describe, expect, it } from 'vitest';
import { aligned } from '../../src/cli/text.ts';

describe('aligned', () => {
  it('makes columns as wide as their widest cell, without blanks at the ends of lines', () => {
    const rows = [
      ['a', '1', ''],
      ['long', '200', 'note'],
      ['', '', 'x'],
    ];

    expect(aligned(rows, ['left', 'right'])).toEqual([
      'a       1',
      'long  200  note',
      '           x',
    ]);
  });

  it('makes nothing of nothing', () => {
    expect(aligned([])).toEqual([]);
  });
});
