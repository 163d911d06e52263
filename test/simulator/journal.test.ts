import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJournal, type JournalEntry } from '../../src/simulator/journal.ts';

function anArrival(overrides: Partial<JournalEntry> = {}): Omit<JournalEntry, 'status'> {
  return {
    monotonicMs: 0,
    wallMs: 0,
    method: 'GET',
    path: '/v2/applications.json',
    query: '',
    applicationId: undefined,
    hostId: undefined,
    remotePort: 40_000,
    keyIndex: 0,
    inFlight: 1,
    ...overrides,
  };
}

describe('journal', () => {
  it('has a request from its arrival on, and its status from the answer on', () => {
    const journal = createJournal(10);

    const { entry, answered } = journal.record(anArrival({ path: '/v2/a' }));
    const before = journal.entries().map(({ path, status }) => ({ path, status }));
    answered(429);

    expect(before).toEqual([{ path: '/v2/a', status: undefined }]);
    expect(entry.status).toBe(429);
    expect(journal.count(({ status }) => status === 429)).toBe(1);
  });

  it('keeps only the newest requests', () => {
    const journal = createJournal(3);

    for (let time = 0; time < 20; time += 1) journal.record(anArrival({ monotonicMs: time }));

    expect(journal.entries().map((entry) => entry.monotonicMs)).toEqual([17, 18, 19]);
    expect(journal.count()).toBe(3);
  });

  it('forgets everything on clear', () => {
    const journal = createJournal(3);
    journal.record(anArrival({ inFlight: 9 }));

    journal.clear();

    expect(journal.count()).toBe(0);
    expect(journal.maxInFlight()).toBe(0);
    expect(journal.maxInAnyWindow(60_000)).toBe(0);
  });

  it('finds the same maximum as a count from each request on', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 500 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 300 }),
        (gaps, windowMs) => {
          const journal = createJournal(100);
          const times = gaps.map((_, index) =>
            gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0),
          );
          for (const monotonicMs of times) journal.record(anArrival({ monotonicMs }));

          const counts = times.map(
            (from) => times.filter((time) => time >= from && time < from + windowMs).length,
          );

          expect(journal.maxInAnyWindow(windowMs)).toBe(Math.max(0, ...counts));
        },
      ),
      { numRuns: 60 },
    );
  });
});
