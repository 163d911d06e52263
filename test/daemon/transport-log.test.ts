import { describe, expect, it } from 'vitest';
import { createTransportLog } from '../../src/daemon/transport-log.ts';
import type { ThrottleCause } from '../../src/model/permit.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

function aBench() {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  let limit = 800;
  const left = new AbortController();
  const log = createTransportLog(
    { account: 'production', clock, logger },
    { limitPerMinute: () => limit },
    left.signal,
  );
  const setLimit = (next: number): void => {
    limit = next;
  };
  /** So many calls are refused in each of these minutes. */
  const refuse = async (minutes: number, cause: ThrottleCause = 'key_limit', calls = 8) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      const untilMs = clock.monotonicMs() + 20_000;
      for (let call = 0; call < calls; call += 1) {
        log.throttled({ cause, untilMs: untilMs + call, sentMs: 0 });
      }
      await clock.advance(60_000);
    }
  };
  return { clock, logger, log, setLimit, refuse, leave: () => left.abort() };
}

const began = 'rate limited by New Relic, pausing the account';
const ended = 'no longer rate limited by New Relic';

describe('createTransportLog', () => {
  it('tells when 429s begin, every ten minutes that they go on, and when they have ended', async () => {
    const { clock, logger, refuse, setLimit } = aBench();
    const since = '2026-09-01T10:00:30.000Z';

    setLimit(400);
    await refuse(29);
    setLimit(800);
    await clock.advance(10 * 60_000);

    const account = 'production';
    const remedy = expect.stringContaining('requests_per_minute');
    const trouble = { account, cause: 'key_limit', since, limit_per_minute: 400, remedy };
    expect(logger.lines).toEqual([
      ...[0, 10, 20].map((minute) => ({
        level: 'warn',
        message: began,
        fields: {
          ...trouble,
          until: `2026-09-01T10:${String(minute).padStart(2, '0')}:50.000Z`,
          calls: 8 * minute + 1,
        },
      })),
      {
        level: 'info',
        message: ended,
        fields: { account, since, calls: 232, limit_per_minute: 800 },
      },
    ]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('says nothing of calls that end after its own end, and keeps no timer', async () => {
    const { clock, logger, refuse, leave } = aBench();
    leave();

    await refuse(1);

    expect(logger.lines).toEqual([]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('takes what comes later than five minutes after the last one for another trouble', async () => {
    const { clock, logger, refuse } = aBench();

    await refuse(1);
    await clock.advance(239_000);
    await refuse(1);
    await clock.advance(300_000);
    await refuse(1);

    expect(logger.lines.map(({ message }) => message)).toEqual([began, ended, began]);
    expect(logger.lines[1]?.fields['calls']).toBe(16);
  });

  it('leaves no timer when it is stopped', async () => {
    const { clock, refuse, leave } = aBench();

    await refuse(1);
    leave();

    expect(clock.pendingTimers()).toBe(0);
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

  it('tells of each cause once, however they alternate', async () => {
    const { logger, refuse } = aBench();

    for (const cause of ['overload', 'key_limit', 'overload', 'key_limit'] as const) {
      await refuse(1, cause);
    }

    expect(logger.lines.map(({ fields }) => fields['cause'])).toEqual(['overload', 'key_limit']);
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
