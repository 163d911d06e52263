import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { accountOne, aRunningDaemon, entryByName, keyA } from '../support/running-daemon.ts';
import { eachAfter } from '../support/slow.ts';
import { expectLabelled } from './reload-bench.ts';

describe('a reload while a long list of applications is taken in', () => {
  eachAfter(1, [0, 2, 8])(
    'gives its labels to all of them: %i turns after the last page',

    async (turns) => {
      await expect(expectLabelled(turns)).resolves.toBeUndefined();
    },
  );
});

describe('8.2 a reload that gives an account another address', () => {
  it('sends nothing there before the poller of the old address has ended', async () => {
    const apps = [entryByName('shop')];
    const before = accountOne({ apiKey: { kind: 'file', path: '/key' } });
    const { platform, daemon, opened, hangReading } = await aRunningDaemon(
      { accounts: [before], apps },
      { files: { '/key': keyA } },
    );
    await platform.clock.advance(1000);
    // The old poller is in the middle of a discovery: it reads its key.
    const held = hangReading('/key');
    await platform.clock.advance(minuteMs);
    const applying = daemon.apply({
      accounts: [accountOne({ baseUrl: 'https://api.eu.newrelic.com' })],
      apps,
    });
    await platform.clock.advance(10_000);
    const [old, next] = opened;
    const sent = [old?.requests, next?.requests];
    held.release();
    await applying;
    await platform.clock.advance(10_000);

    expect(sent).toEqual([old?.requests, 0]);
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    expect(next?.requests).toBeGreaterThan(1);
  });
});
