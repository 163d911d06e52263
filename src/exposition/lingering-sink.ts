import type { Clock } from '../model/clock.ts';
import type { SnapshotSink } from '../model/snapshot.ts';

/**
 * Keeps on showing what another shard has taken over, until that one had the time to show it: then
 * neither a gap nor a lasting duplicate comes of it.
 */
export function createLingeringSink(
  sink: SnapshotSink,
  { clock }: { readonly clock: Clock },
): SnapshotSink {
  const timers = new Map<string, Map<string, () => void>>();

  const forget = (account: string, applicationId: string): void => {
    const ofAccount = timers.get(account);
    ofAccount?.get(applicationId)?.();
    ofAccount?.delete(applicationId);
    if (ofAccount?.size === 0) timers.delete(account);
  };

  return {
    publish: (snapshot) => {
      forget(snapshot.account, snapshot.application.id);
      sink.publish(snapshot);
    },
    remove: (account, applicationId) => {
      forget(account, applicationId);
      sink.remove(account, applicationId);
    },
    handOver: (account, applicationId, withinMs) => {
      forget(account, applicationId);
      const cancel = clock.after(withinMs, () => {
        forget(account, applicationId);
        sink.remove(account, applicationId);
      });
      const ofAccount = timers.get(account) ?? new Map<string, () => void>();
      timers.set(account, ofAccount.set(applicationId, cancel));
    },
    accountUp: (account, up) => {
      sink.accountUp(account, up);
    },
    removeAccount: (account) => {
      for (const cancel of timers.get(account)?.values() ?? []) cancel();
      timers.delete(account);
      sink.removeAccount(account);
    },
  };
}
