import { describe, expect, it } from 'vitest';
import { historyText, sparkline } from '../../src/status/sparkline.ts';

const pathIn = (markup: string): string | undefined => / d="([^"]*)"/u.exec(markup)?.[1];

describe('sparkline', () => {
  it.each([
    { what: 'a line from 0 to the highest value', history: [0, 5, 10], path: 'M0 20L1 10L2 0' },
    { what: 'a level line', history: [3, 3, 3], path: 'M0 0L1 0L2 0' },
    { what: 'zeros at the bottom', history: [0, 0], path: 'M0 20L1 20' },
    { what: 'a gap as a gap', history: [1, undefined, 1, 1], path: 'M0 0h.5M2 0L3 0' },
    { what: 'nothing', history: [undefined, undefined], path: '' },
    { what: 'no history at all', history: [], path: '' },
  ])('draws $what', ({ history, path }) => {
    expect(pathIn(sparkline(history).toString())).toBe(path);
  });

  it('is an image with a name', () => {
    expect(sparkline([1, 2]).toString()).toContain(
      'role="img"><title>Last hour: 1 to 2 requests per minute, last 2</title>',
    );
  });
});

describe('historyText', () => {
  it.each([
    { history: [undefined], text: 'No values in the last hour' },
    { history: [7, undefined, 7], text: 'Last hour: always 7 requests per minute' },
    { history: [70, 1204, 85], text: 'Last hour: 70 to 1,204 requests per minute, last 85' },
  ])('says "$text"', ({ history, text }) => {
    expect(historyText(history)).toBe(text);
  });
});
