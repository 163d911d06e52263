import { describe, expect, it } from 'vitest';
import { createTransportLog } from '../../src/daemon/transport-log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

function aBench() {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  let limit = 800;
  const listeners = new Set<() => void>();
  const membership = {
    limitPerMinute: () => limit,
    isReduced: () => limit < 800,
    onLimitChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const log = createTransportLog('production', { clock, membership, logger });
  const setLimit = (next: number): void => {
    limit = next;
    for (const listener of listeners) listener();
  };
  return { clock, logger, log, setLimit };
}

describe('createTransportLog', () => {
  it('tells of each pause once, however many calls are refused in it', async () => {
    const { clock, logger, log } = aBench();

    for (let minute = 0; minute < 3; minute += 1) {
      const untilMs = clock.monotonicMs() + 20_000;
      for (let call = 0; call < 8; call += 1) {
        log.throttled({ cause: 'key_limit', untilMs: untilMs + call, sentMs: 0 });
      }
      await clock.advance(60_000);
    }

    expect(logger.lines.map(({ level, fields }) => [level, fields['until']])).toEqual([
      ['warn', '2026-09-01T10:00:50.000Z'],
      ['warn', '2026-09-01T10:01:50.000Z'],
      ['warn', '2026-09-01T10:02:50.000Z'],
    ]);
  });

  it.each([
    {
      cause: 'key_limit',
      others: true,
      remedy: 'the limit of the key is used up, perhaps by others',
    },
    {
      cause: 'overload',
      others: false,
      remedy: 'New Relic has too much to do and asks all its clients',
    },
    { cause: 'unknown', others: false, remedy: 'the answer gives no reason' },
  ] as const)('says what a 429 is about: $cause', ({ cause, others, remedy }) => {
    const { logger, log, setLimit } = aBench();
    setLimit(400);

    log.throttled({ cause, untilMs: 0, sentMs: 0 });

    const [line] = logger.lines;
    expect(String(line?.fields['remedy'])).toContain(remedy);
    expect(line?.fields['limit_per_minute']).toBe(others ? 400 : undefined);
  });

  it('tells of another cause within the same pause', () => {
    const { clock, logger, log } = aBench();
    const untilMs = clock.monotonicMs() + 20_000;

    for (const cause of ['overload', 'overload', 'key_limit'] as const) {
      log.throttled({ cause, untilMs, sentMs: 0 });
    }

    expect(logger.lines.map(({ fields }) => fields['cause'])).toEqual(['overload', 'key_limit']);
  });

  it('says once that the full limit is in force again, if it said that less is', () => {
    const { logger, log, setLimit } = aBench();

    setLimit(400);
    setLimit(800);
    const untold = logger.lines.length;
    setLimit(400);
    log.throttled({ cause: 'key_limit', untilMs: 0, sentMs: 0 });
    for (const limit of [480, 640, 800, 400, 800]) setLimit(limit);

    expect(untold).toBe(0);
    expect(logger.lines.slice(1)).toEqual([
      {
        level: 'info',
        message: 'the full limit of the key is available again',
        fields: { account: 'production', limit_per_minute: 800 },
      },
    ]);
  });

  it('says nothing of the limit after a 429 that does not name it', () => {
    const { logger, log, setLimit } = aBench();

    log.throttled({ cause: 'overload', untilMs: 0, sentMs: 0 });
    setLimit(799);
    setLimit(800);

    expect(logger.lines).toHaveLength(1);
  });

  it.each([
    {
      skew: { ms: 90_400, isBelieved: true },
      ahead: 90,
      remedy: "windows follow New Relic's clock",
    },
    {
      skew: { ms: -3e10, isBelieved: false },
      ahead: -3e7,
      remedy: "windows follow this machine's clock",
    },
  ])('tells of a difference of the clocks of $skew.ms ms, and of its end', (row) => {
    const { logger, log } = aBench();

    log.clockSkewed(row.skew);
    log.clockSkewed(undefined);

    const [begin, end] = logger.lines;
    expect(begin).toMatchObject({
      level: 'warn',
      message: "New Relic's clock and this machine's differ",
      fields: { account: 'production', vendor_ahead_seconds: row.ahead },
    });
    expect(String(begin?.fields['remedy'])).toContain(row.remedy);
    expect(end).toEqual({
      level: 'info',
      message: "New Relic's clock and this machine's agree again",
      fields: { account: 'production' },
    });
  });
});
