import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/config/duration.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import type { AccountSource, PollConfig } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { type TimeWindow, windowAt } from '../../src/model/window.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { readDocument } from './documents.ts';
import { codeWordsIn, rowsWith } from './markdown.ts';

const { text } = readDocument('docs/configuration.md');
const scrapeMs = 30_000;
/** A whole minute, in UTC. */
const changeMs = Date.parse('2026-11-22T10:00:00Z');

function msOf(duration: string): number {
  const ms = parseDuration(duration, { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER });
  if (ms === undefined) throw new Error(`${duration} is no duration`);
  return ms;
}

async function defaults(): Promise<PollConfig> {
  const where = { fileName: 'config.yaml', directory: '/' };
  const { config } = await parseConfig('apps: [{ id: 1 }]\n', where);
  const [entry] = config.apps;
  if (entry === undefined) throw new Error('there is no entry');
  return entry.poll;
}

const poll = await defaults();
const lengthMs = poll.window.kind === 'range' ? poll.window.lengthMs : Number.NaN;

interface Timing {
  readonly delayMs: number;
  readonly lengthMs: number;
  readonly intervalMs: number;
}

function windowOf(atMs: number, timing: Timing): TimeWindow {
  const setting = { kind: 'range', lengthMs: timing.lengthMs } as const;
  const window = windowAt(atMs, setting, timing.delayMs);
  if (window === undefined) throw new Error('there is no window');
  return window;
}

/** From the least to just below the greatest, over all phases that the polls may have. */
function rangeOf(durations: readonly number[]): string {
  const range = [Math.min(...durations), Math.max(...durations) + 1];
  return range.map((ms) => formatDuration(ms)).join(' to ');
}

function* phasesOf({ intervalMs }: Timing): Generator<number> {
  for (let ms = 0; ms < intervalMs; ms += 1000) yield* [ms, ms + 999];
}

function agesOf(timing: Timing): readonly number[] {
  return [...phasesOf(timing)].flatMap((phaseMs) => {
    const ages: number[] = [];
    for (let n = 0; n < 60; n += 1) {
      const atMs = changeMs + phaseMs + n * timing.intervalMs;
      const ageMs = atMs - windowOf(atMs, timing).toMs;
      ages.push(ageMs, ageMs + timing.intervalMs);
    }
    return ages;
  });
}

/** How long after a change the first poll asks for a window that fits, for every phase. */
function lagsOf(timing: Timing, fits: (window: TimeWindow) => boolean): readonly number[] {
  return [...phasesOf(timing)].map((phaseMs) => {
    let atMs = changeMs + phaseMs;
    while (!fits(windowOf(atMs, timing))) atMs += timing.intervalMs;
    return atMs - changeMs;
  });
}

describe('the table of ages', () => {
  const rows = rowsWith(text, [
    '`delay`',
    '`window`',
    '`interval`',
    'age on `/metrics`',
    'at most in Prometheus, scraped every 30s',
    'first sign of a change after',
    'all of it after',
  ]);
  const timings = rows.map((row) => ({
    row,
    settings: `${row['`delay`']}, ${row['`window`']}, ${row['`interval`']}`,
    delayMs: msOf(codeWordsIn(row['`delay`'])[0] ?? ''),
    lengthMs: msOf(codeWordsIn(row['`window`'])[0] ?? ''),
    intervalMs: msOf(codeWordsIn(row['`interval`'])[0] ?? ''),
  }));

  it('begins with the defaults', () => {
    const { delayMs, intervalMs } = poll;

    expect(timings[0]).toMatchObject({ delayMs, lengthMs, intervalMs });
  });

  it.each(timings)('is right for $settings', ({ row, ...timing }) => {
    const ages = agesOf(timing);

    expect(row).toMatchObject({
      'age on `/metrics`': rangeOf(ages),
      'at most in Prometheus, scraped every 30s': formatDuration(Math.max(...ages) + 1 + scrapeMs),
      'first sign of a change after': rangeOf(
        lagsOf(timing, ({ toMs }) => toMs >= changeMs + minuteMs),
      ),
      'all of it after': rangeOf(lagsOf(timing, ({ fromMs }) => fromMs >= changeMs)),
    });
  });
});

describe('a daemon with the defaults', () => {
  const sources: readonly AccountSource[] = [
    { kind: 'rest', accountId: undefined },
    { kind: 'nerdgraph', accountId: 1_234_567 },
  ];

  it.each(sources)('publishes values of that age: $kind', async (source) => {
    const { platform, page } = await aRunningDaemon({
      accounts: [anAccount({ source, apiKey: { kind: 'env', name: 'KEY_A' } })],
      apps: [anEntry({ poll })],
    });
    const ages: number[] = [];
    await platform.clock.advance(minuteMs);

    for (let second = 0; second < 600; second += 5) {
      await platform.clock.advance(5000);
      const ends = (await page()).matchAll(/_window_end_timestamp_seconds\{.*\} (\d+)/g);
      ages.push(...[...ends].map(([, end]) => platform.clock.wallMs() / 1000 - Number(end)));
    }

    expect(Math.min(...ages)).toBeGreaterThanOrEqual(poll.delayMs / 1000);
    expect(Math.max(...ages)).toBeGreaterThan((poll.delayMs + poll.intervalMs) / 1000 - 10);
    expect(Math.max(...ages)).toBeLessThan((poll.delayMs + minuteMs + poll.intervalMs) / 1000 + 5);
  });
});
