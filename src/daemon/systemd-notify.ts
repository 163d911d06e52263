import type { RunTool } from './run-tool.ts';
import type { ServiceManagerChannel } from './service-manager.ts';

export interface SystemdProcess {
  readonly pid: number;
  /** The process that has started this one, if that is this program too. */
  readonly parentPid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface SystemdNotifyDependencies {
  readonly run: RunTool;
  /** The clock `CLOCK_MONOTONIC` of the kernel. */
  readonly monotonicMicroseconds: () => bigint;
}

/** It needs a few milliseconds; a machine without a free processor, some seconds. */
const timeoutMs = 5000;

/**
 * How to reach systemd, if it wants to be told of the state of this process, as it does for a unit with
 * `Type=notify`. Node cannot send datagrams to a Unix socket, so the program `systemd-notify` does.
 */
export function systemdChannel(
  { pid, parentPid, env }: SystemdProcess,
  { run, monotonicMicroseconds }: SystemdNotifyDependencies,
): ServiceManagerChannel | undefined {
  const socket = env['NOTIFY_SOCKET'] ?? '';
  if (socket === '') return undefined;
  const toolEnv = { PATH: env['PATH'] ?? '/usr/bin:/bin', NOTIFY_SOCKET: socket };
  return {
    tell: async (assignments) => run('systemd-notify', assignments, { env: toolEnv, timeoutMs }),
    monotonicMicroseconds,
    watchdogMs: isForUs(env['WATCHDOG_PID'], [pid, parentPid])
      ? watchdogMsOf(env['WATCHDOG_USEC'])
      : undefined,
  };
}

/** systemd names the process that it has started, which the parent of a daemon passes on. */
function isForUs(watchdogPid: string | undefined, pids: readonly (number | undefined)[]): boolean {
  return watchdogPid === undefined || pids.includes(Number(watchdogPid));
}

function watchdogMsOf(microseconds: string | undefined): number | undefined {
  const ms = Number(microseconds) / 1000;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
