import { afterEach, describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { sources } from './sources.ts';

const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const timeZone = process.env['TZ'];

afterEach(() => {
  if (timeZone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = timeZone;
});

function localOffsetMinutes(wallMs: number): number {
  return new Date(wallMs).getTimezoneOffset();
}

describe.each(sources)('$name', (source) => {
  describe('a day that is not like others', () => {
    it.each([
      { what: 'the leap day begins', zone: 'UTC', at: '2028-02-29T00:00:00Z', shiftMinutes: 0 },
      { what: 'the leap day ends', zone: 'UTC', at: '2028-03-01T00:00:00Z', shiftMinutes: 0 },
      { what: 'February has no 29th', zone: 'UTC', at: '2027-03-01T00:00:00Z', shiftMinutes: 0 },
      { what: 'a month ends', zone: 'UTC', at: '2026-10-31T00:00:00Z', shiftMinutes: 0 },
      { what: 'a year ends', zone: 'UTC', at: '2027-01-01T00:00:00Z', shiftMinutes: 0 },
      {
        what: 'daylight saving begins',
        zone: 'Europe/Berlin',
        at: '2027-03-28T01:00:00Z',
        shiftMinutes: -60,
      },
      {
        what: 'daylight saving ends',
        zone: 'America/New_York',
        at: '2026-11-01T06:00:00Z',
        shiftMinutes: 60,
      },
      {
        what: 'half an hour is added',
        zone: 'Australia/Lord_Howe',
        at: '2026-10-03T15:30:00Z',
        shiftMinutes: -30,
      },
    ])(
      'takes no minute from the windows and adds none: $what',
      async ({ zone, at, shiftMinutes }) => {
        process.env['TZ'] = zone;
        const changeMs = Date.parse(at);
        const startWallMs = changeMs - 5 * minuteMs;
        await withTimedFaults({ source: source.account, startWallMs }, async (bench) => {
          await bench.advance(20 * minuteMs);
          const page = await bench.scrape();

          const windows = source.windowsOf('101', bench.faulty.simulator.journal.entries());
          // The first two polls may fall into one minute: an application is moved to its place.
          const ends = [...new Set(windows.map(({ toMs }) => toMs))];
          expect(
            localOffsetMinutes(changeMs + hourMs) - localOffsetMinutes(changeMs - hourMs),
          ).toBe(shiftMinutes);
          expect(ends.filter((end) => end < changeMs).length).toBeGreaterThan(5);
          expect(ends.filter((end) => end > changeMs).length).toBeGreaterThan(5);
          expect(ends.map((end, index) => end - (ends[0] ?? 0) - index * minuteMs)).toEqual(
            ends.map(() => 0),
          );
          expect(windows.filter(({ fromMs, toMs }) => toMs - fromMs !== 5 * minuteMs)).toEqual([]);
          expect(freshness(page, bench.clock)).toEqual(everyone);
        });
      },
    );
  });
});
