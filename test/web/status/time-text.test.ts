import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../../src/model/time.ts';
import { html } from '../../../src/web/status/html.ts';
import {
  absoluteText,
  ago,
  due,
  durationText,
  since,
  until,
} from '../../../src/web/status/time-text.ts';
import { textOf } from '../../support/html-parts.ts';

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
