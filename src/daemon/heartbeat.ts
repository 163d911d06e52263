import { type Clock, sleep } from '../model/clock.ts';

/** The message that a daemon sends to its parent regularly. */
export interface Heartbeat {
  /** Why polling stands still until a restart; `null` while it does not. */
  readonly stalled: string | null;
}

export const heartbeatMs = 10_000;

/** Sends a heartbeat at once, and then every ten seconds until the signal is aborted. */
export async function sendHeartbeats(
  clock: Clock,
  tellParent: (message: unknown) => void,
  stalled: () => string | undefined,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const heartbeat: Heartbeat = { stalled: stalled() ?? null };
    tellParent(heartbeat);
    await sleep(clock, heartbeatMs, signal).catch(() => {});
  }
}

/** `undefined` for any other message. */
export function heartbeatIn(message: unknown): Heartbeat | undefined {
  if (typeof message !== 'object' || message === null || !('stalled' in message)) return undefined;
  const { stalled } = message;
  return stalled === null || typeof stalled === 'string' ? { stalled } : undefined;
}
