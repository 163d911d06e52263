import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/config/duration.ts';
import type { Refuse } from '../../src/config/url.ts';

const wide = { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER };
const oneSecondToOneHour = { minMs: 1000, maxMs: 3_600_000 };

const form =
  'must be a duration of whole numbers with the units w, d, h, m, s and ms, such as 1h30m';

describe('parseDuration', () => {
  it.each([
    { text: '30s', ms: 30_000 },
    { text: '5m', ms: 300_000 },
    { text: '1h', ms: 3_600_000 },
    { text: '1h30m', ms: 5_400_000 },
    { text: '500ms', ms: 500 },
    { text: '1m500ms', ms: 60_500 },
    { text: '0s', ms: 0 },
    { text: '1d', ms: 86_400_000 },
    { text: '1w1d12h', ms: 734_400_000 },
  ])('reads $text', ({ text, ms }) => {
    expect(parseDuration(text, wide)).toBe(ms);
  });

  it.each([
    { value: 60, problem: 'needs a unit: ms, s, m, h, d or w, such as 60s' },
    { value: '60', problem: 'needs a unit: ms, s, m, h, d or w, such as 60s' },
    { value: 1.5, problem: form },
    { value: '30m1h', problem: form },
    { value: '1.5h', problem: form },
    { value: '1d1w', problem: form },
    { value: '1y', problem: form },
    { value: '', problem: form },
    { value: true, problem: 'must be a duration with a unit, such as 30s' },
    { value: null, problem: 'must be a duration with a unit, such as 30s' },
    { value: ['1s'], problem: 'must be a duration with a unit, such as 30s' },
    { value: '999ms', problem: 'must be at least 1s' },
    { value: '1h1ms', problem: 'must be at most 1h' },
    { value: `${'9'.repeat(400)}h`, problem: 'must be at most 1h' },
  ])('refuses $value: $problem', ({ value, problem }) => {
    const problems: string[] = [];
    const refuse: Refuse = (found) => {
      problems.push(found);
      return undefined;
    };

    expect(parseDuration(value, oneSecondToOneHour, refuse)).toBeUndefined();
    expect(problems).toEqual([problem]);
  });

  it.each([{ value: 0 }, { value: '0' }])(
    'takes a bare zero ($value) where zero is allowed',
    ({ value }) => {
      expect(parseDuration(value, wide)).toBe(0);
    },
  );

  it.each([
    { ms: 86_400_000, text: '1d' },
    { ms: 129_600_000, text: '1d12h' },
    { ms: 604_800_000, text: '1w' },
    { ms: 691_200_000, text: '8d' },
    { ms: 2_678_400_000, text: '31d' },
  ])('is written as $text, as Prometheus does', ({ ms, text }) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('parses the output of formatDuration', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000_000_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms), wide)).toBe(ms);
      }),
      { numRuns: 200 },
    );
  });
});
