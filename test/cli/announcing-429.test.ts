import { describe, expect, it } from 'vitest';
import { announcing429 } from '../../src/cli/announcing-429.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createRecordingObserver } from '../transport/fakes.ts';

describe('announcing429', () => {
  it('says so at once, and then every ten minutes with the number of answers', async () => {
    const clock = createFakeClock();
    const logger = createFakeLogger();
    const observer = createRecordingObserver();
    const pacer = { pausedUntilMs: () => clock.monotonicMs() + 20_000 };
    const announcing = announcing429('production', { observer, clock, pacer, logger });

    for (let minute = 0; minute < 12; minute += 1) {
      announcing.throttled();
      announcing.throttled();
      await clock.advance(60_000);
    }

    expect(observer.events).toHaveLength(24);
    expect(logger.lines.map(({ level, fields }) => [level, fields['answers']])).toEqual([
      ['warn', 1],
      ['warn', 20],
    ]);
    expect(logger.lines[0]?.fields['until']).toBe('2026-09-01T10:00:50.000Z');
  });
});
