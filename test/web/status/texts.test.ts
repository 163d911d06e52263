import { describe, expect, it } from 'vitest';
import { countText, durationText, rateText } from '../../../src/model/shown-text.ts';
import { hourMs, minuteMs, secondMs } from '../../../src/model/time.ts';
import type { ValueName } from '../../../src/model/vendor-value.ts';
import { html } from '../../../src/web/status/html.ts';
import {
  absoluteText,
  ago,
  byText,
  due,
  shownCount,
  shownValue,
  since,
  until,
} from '../../../src/web/status/texts.ts';
import { textOf } from '../../support/html-parts.ts';

describe('byText', () => {
  it('sorts numbers by their value, letters by the alphabet, and the same always alike', () => {
    const sorted = ['9', '10', 'a\u0301', '\u00e1', 'app 2', 'App 10', 'b', 'shop 01', 'shop 1'];

    expect(sorted.toReversed().toSorted(byText)).toEqual(sorted);
    expect(sorted.map((text) => byText(text, text))).toEqual(sorted.map(() => 0));
  });
});

describe('rateText', () => {
  it.each([
    { value: 0, text: '0' },
    { value: 0.001, text: '<0.1' },
    { value: 0.05, text: '0.1' },
    { value: 85.47, text: '85.5' },
    { value: 85, text: '85' },
    { value: 1204.5, text: '1,205' },
    { value: 1_234_567, text: '1,234,567' },
  ])('writes $text', ({ value, text }) => {
    expect(rateText(value)).toBe(text);
  });
});

describe('counts', () => {
  it.each([
    { text: countText(12_000), expected: '12,000' },
    { text: shownCount(1, 'host'), expected: '1 host' },
    { text: shownCount(0, 'host'), expected: '0 hosts' },
    { text: shownCount(2, 'entry matches', 'entries match'), expected: '2 entries match' },
  ])('writes $expected', ({ text, expected }) => {
    expect(text).toBe(expected);
  });
});

describe('valueText', () => {
  it.each<{ name: ValueName; value: number; text: string }>([
    { name: 'average_response_time', value: 0.12345, text: '123 ms' },
    { name: 'average_response_time', value: 0.00042, text: '0.42 ms' },
    { name: 'average_response_time', value: 2.5, text: '2.5 s' },
    { name: 'total_call_time_per_minute', value: 0.05, text: '50 ms/min' },
    { name: 'used_bytes_by_host', value: 512, text: '0.5 KiB' },
    { name: 'used_bytes_by_host', value: 524_288_000, text: '500 MiB' },
    { name: 'used_mb_by_host', value: 1_610_612_736, text: '1.5 GiB' },
    { name: 'percent', value: 0.375, text: '37.5 %' },
    { name: 'percent', value: 2, text: '200 %' },
    { name: 'score', value: 0.94, text: '0.94' },
    { name: 'requests_per_minute', value: 1204.4, text: '1,204/min' },
    { name: 'throughput', value: 0.25, text: '0.25/s' },
    { name: 'call_count', value: 1_234_567, text: '1,234,567' },
    { name: 'average_value', value: 12.345, text: '12.3' },
    { name: 'rate', value: -3, text: '-3/s' },
    { name: 'average_value', value: 0, text: '0' },
  ])('writes $name as $text', ({ name, value, text }) => {
    expect(shownValue(name, value)).toBe(text);
  });

  it('gives no unit to a value with a scale of its own', () => {
    expect(shownValue('average_response_time', 1500, 1000)).toBe('1,500');
  });
});

const now = Date.UTC(2026, 10, 22, 3, 0, 0);

describe('durationText', () => {
  it.each([
    { ms: -5, text: '0 s' },
    { ms: 999, text: '0 s' },
    { ms: 59_999, text: '59 s' },
    { ms: minuteMs, text: '1 min' },
    { ms: 9 * minuteMs + 12 * secondMs, text: '9 min 12 s' },
    { ms: 12 * minuteMs + 12 * secondMs, text: '12 min' },
    { ms: hourMs, text: '1 h' },
    { ms: 2 * hourMs + 5 * minuteMs, text: '2 h 5 min' },
    { ms: 76 * hourMs, text: '3 d 4 h' },
    { ms: 400 * 24 * hourMs, text: '400 d' },
  ])('says $text', ({ ms, text }) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe('times', () => {
  it.each([
    { what: 'the past', made: ago(now - 12 * secondMs, now), text: '12 s ago' },
    { what: 'the present', made: ago(now - 300, now), text: 'now' },
    { what: 'a clock that was set back', made: ago(now + hourMs, now), text: 'now' },
    { what: 'what is due', made: due(now + 46 * secondMs, now), text: 'in 46 s' },
    { what: 'what begins', made: due(now - 4 * secondMs, now), text: 'now' },
    { what: 'what is late', made: due(now - 2 * minuteMs, now), text: '2 min late' },
    {
      what: 'a beginning today',
      made: since(now - 12 * minuteMs, now),
      text: '02:48:00 UTC (12 min ago)',
    },
    {
      what: 'a beginning on another day',
      made: since(now - 4 * hourMs, now),
      text: '2026-11-21 23:00:00 UTC (4 h ago)',
    },
    { what: 'an end', made: until(now + 41 * secondMs, now), text: '03:00:41 UTC (in 41 s)' },
    { what: 'an end that is over', made: until(now - secondMs, now), text: '02:59:59 UTC (now)' },
  ])('says $what in words', ({ made, text }) => {
    expect(textOf(made.toString())).toBe(text);
  });

  it('gives the absolute time to machines, and to people who point at it', () => {
    expect(ago(now - minuteMs, now).toString()).toBe(
      '<time datetime="2026-11-22T02:59:00.000Z" title="2026-11-22 02:59:00 UTC">1 min ago</time>',
    );
  });

  it('survives a time that no calendar has', () => {
    expect(absoluteText(Number.MAX_VALUE)).toBe('at no time');
    expect(html`${ago(Number.NEGATIVE_INFINITY, now)}`.toString()).toContain('datetime=""');
  });
});
