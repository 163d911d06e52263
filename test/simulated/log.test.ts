import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

describe('the log while more applications fail in each minute', () => {
  it(
    'has three lines in the first minute and one in each further one, that counts the others',
    slow,
    async () => {
      const first = 1000;
      const perMinute = 8;
      const { platform, logger } = await aRunningDaemon(
        { accounts: [accountOne()], apps: [anEntry({ account: 'one', hosts: false })] },
        {
          fleet: {
            applications: Array.from({ length: 4 * perMinute }, (_, index) => ({
              id: first + index,
              name: `app ${index}`,
              kind: 'web',
              hosts: 1,
            })),
          },
          intercept: ({ applicationId, monotonicMs }) =>
            Number(applicationId) - first < perMinute * Math.floor(monotonicMs / minuteMs - 1)
              ? () => ({ status: 400, headers: {}, body: '' })
              : 'pass',
        },
      );
      const suppressed: (readonly number[])[] = [];
      for (let minute = 0; minute < 8; minute += 1) {
        const before = logger.lines.length;
        await platform.clock.advance(minuteMs);
        const lines = logger.lines.slice(before).filter(({ message }) => message === 'poll failed');
        if (lines.length > 0)
          suppressed.push(lines.map(({ fields }) => Number(fields['suppressed'] ?? 0)));
      }

      const told = suppressed.flat();
      expect(suppressed.map(({ length }) => length)).toEqual([3, 1, 1, 1, 1]);
      expect(told.reduce((sum, count) => sum + 1 + count, 0)).toBe(4 * perMinute);
    },
  );
});

describe('6 a key that two accounts had', () => {
  it('stays out of the log until both have given it up', slow, async () => {
    const keys = ['FirstSharedSecret', 'SecondSecret', 'ThirdSecret'] as const;
    const files = { '/one': keys[0], '/two': keys[0] } as Record<string, string>;
    const names = ['one', 'two'];
    const poll = { intervalMs: 10 * minuteMs, discoveryIntervalMs: 10 * minuteMs };
    const { platform, daemon } = await aRunningDaemon(
      {
        accounts: names.map((name) =>
          accountOne({ name, apiKey: { kind: 'file', path: `/${name}` } }),
        ),
        apps: names.map((account) => anEntry({ account, hosts: false, poll })),
      },
      { files, apiKeys: keys },
    );
    // A key that was replaced is remembered for an hour.
    for (const key of keys) {
      files['/one'] = key;
      await platform.clock.advance(80 * minuteMs);
    }

    expect(daemon.status().map(({ state }) => state)).toEqual(['up', 'up']);
    expect(platform.redactor.redact(`key: ${keys[0]}`)).toBe('key: [redacted]');
    files['/two'] = keys[2];
    await platform.clock.advance(80 * minuteMs);
    files['/two'] = keys[1];
    await platform.clock.advance(20 * minuteMs);
    expect(platform.redactor.redact(`key: ${keys[0]}`)).toBe(`key: ${keys[0]}`);
  });
});
