import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import type { Output } from './machine.ts';

/** Lines for this many applications: enough to see numbers move, few enough to read. */
const shownApplications = 5;

/** Passes everything on, and prints the throughput of a few applications whenever it changes. */
export function tickerOver(sink: SnapshotSink, stdout: Output): SnapshotSink {
  const last = new Map<string, string>();
  return {
    remove: (account, applicationId) => {
      sink.remove(account, applicationId);
    },
    accountUp: (account, up) => {
      sink.accountUp(account, up);
    },
    removeAccount: (account) => {
      sink.removeAccount(account);
    },
    publish: (snapshot) => {
      sink.publish(snapshot);
      const { id, name } = snapshot.application;
      const now = throughputText(snapshot);
      const before = last.get(id);
      if (now === '' || now === before) return;
      if (before === undefined && last.size >= shownApplications) return;
      last.set(id, now);
      const was = before === undefined ? '' : `   (was ${before})`;
      stdout.write(`  ${name.padEnd(34)} ${now}${was}\n`);
    },
  };
}

function throughputText({ reading }: AppSnapshot): string {
  return [...(reading?.application ?? [])]
    .map(([type, requestsPerMinute]) => `${type} ${requestsPerMinute} rpm`)
    .join(', ');
}
