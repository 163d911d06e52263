import { describe, expect, it } from 'vitest';
import { formatTimestamp, parseTimeRange } from '../../src/simulator/time-range.ts';

const nowMs = Date.parse('2016-01-28T18:36:06Z');

function parsed(from: string | undefined, to: string | undefined): readonly string[] | undefined {
  const range = parseTimeRange(from, to, nowMs);
  return range === undefined
    ? undefined
    : [range.requestedFromMs, range.requestedToMs, range.fromMs, range.toMs].map(formatTimestamp);
}

describe('parseTimeRange', () => {
  it('takes the data of the default range from some minutes earlier, as in the documented sample', () => {
    expect(parsed(undefined, undefined)).toEqual([
      '2016-01-28T18:06:06+00:00',
      '2016-01-28T18:36:06+00:00',
      '2016-01-28T18:03:00+00:00',
      '2016-01-28T18:33:00+00:00',
    ]);
  });
});
