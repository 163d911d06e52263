import { describe, expect, it } from 'vitest';
import { createProgressLines } from '../../src/cli/one-shot.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('the progress of a command', () => {
  it.each([
    { where: 'on a terminal', isTTY: true, seconds: [1, 11, 21] },
    { where: 'elsewhere', isTTY: false, seconds: [10, 20] },
  ])('is a line every ten seconds $where, without escape sequences', async ({ isTTY, seconds }) => {
    const clock = createFakeClock();
    const written: string[] = [];
    const stderr = { isTTY, write: (text: string) => written.push(text), on: () => undefined };
    const progress = createProgressLines({ stderr, clock });

    progress.show(() => `account \u001B[2J\nx`);
    await clock.advance(29_999);
    progress.end();
    await clock.advance(60_000);

    expect(written).toEqual(seconds.map((one) => `${one} s: account \\u{1b}[2J\\u{a}x\n`));
    expect(clock.pendingTimers()).toBe(0);
  });

  it('writes nothing for a command that says nothing', async () => {
    const clock = createFakeClock();
    const written: string[] = [];
    const stderr = { write: (text: string) => written.push(text), on: () => undefined };

    createProgressLines({ stderr, clock });
    await clock.advance(60_000);

    expect(written).toEqual([]);
  });
});
