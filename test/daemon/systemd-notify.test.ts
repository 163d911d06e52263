import { describe, expect, it } from 'vitest';
import type { RunTool } from '../../src/daemon/run-tool.ts';
import { systemdChannel } from '../../src/daemon/systemd-notify.ts';

const monotonicMicroseconds = (): bigint => 5n;
const run: RunTool = async () => {};

describe('systemdChannel', () => {
  it.each([{ env: {} }, { env: { NOTIFY_SOCKET: '' } }])(
    'is not there where nobody listens: $env',
    ({ env }) => {
      expect(
        systemdChannel({ pid: 7, parentPid: undefined, env }, { run, monotonicMicroseconds }),
      ).toBeUndefined();
    },
  );

  it('runs systemd-notify with nothing of the environment but what it needs', async () => {
    const runs: unknown[] = [];
    const env = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: '/usr/bin', NEW_RELIC_API_KEY: 'x' };
    const channel = systemdChannel(
      { pid: 7, parentPid: undefined, env },
      {
        run: async (...one) => {
          runs.push(one);
        },
        monotonicMicroseconds,
      },
    );

    await channel?.tell(['READY=1', 'STATUS=Polling.']);

    expect(runs).toEqual([
      [
        'systemd-notify',
        ['READY=1', 'STATUS=Polling.'],
        { env: { PATH: '/usr/bin', NOTIFY_SOCKET: '/run/systemd/notify' }, timeoutMs: 5000 },
      ],
    ]);
    expect(channel?.monotonicMicroseconds()).toBe(5n);
  });

  it.each([
    { what: 'none', env: {}, watchdogMs: undefined },
    { what: 'one', env: { WATCHDOG_USEC: '120000000' }, watchdogMs: 120_000 },
    { what: 'ours', env: { WATCHDOG_USEC: '9000000', WATCHDOG_PID: '7' }, watchdogMs: 9000 },
    {
      what: 'our parent’s',
      env: { WATCHDOG_USEC: '9000000', WATCHDOG_PID: '6' },
      watchdogMs: 9000,
    },
    {
      what: 'another’s',
      env: { WATCHDOG_USEC: '9000000', WATCHDOG_PID: '8' },
      watchdogMs: undefined,
    },
    { what: 'none at all: 0', env: { WATCHDOG_USEC: '0' }, watchdogMs: undefined },
    { what: 'nonsense', env: { WATCHDOG_USEC: 'soon' }, watchdogMs: undefined },
  ])('knows the watchdog: $what', ({ env, watchdogMs }) => {
    const process = { pid: 7, parentPid: 6, env: { ...env, NOTIFY_SOCKET: '@x' } };

    expect(systemdChannel(process, { run, monotonicMicroseconds })?.watchdogMs).toBe(watchdogMs);
  });
});
