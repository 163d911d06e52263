import { describe, expect, it } from 'vitest';
import { countText } from '../../../src/model/shown-text.ts';
import type { ValueName } from '../../../src/model/vendor-value.ts';
import { countOf, rateText, valueText } from '../../../src/web/status/number-text.ts';

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
    { text: countOf(1, 'host'), expected: '1 host' },
    { text: countOf(0, 'host'), expected: '0 hosts' },
    { text: countOf(2, 'entry matches', 'entries match'), expected: '2 entries match' },
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
    expect(valueText(name, value)).toBe(text);
  });

  it('gives no unit to a value with a scale of its own', () => {
    expect(valueText('average_response_time', 1500, 1000)).toBe('1,500');
  });
});
