import { type AppSnapshot, isOfQuery, type SnapshotSink } from '../../src/model/snapshot.ts';

export interface FakeSink extends SnapshotSink {
  /** The snapshot that a scrape would show now, by application id. */
  readonly apps: Map<string, AppSnapshot>;
  readonly up: Map<string, boolean>;
  /** Everything that was ever published, to see that nothing half was. */
  readonly published: AppSnapshot[];
}

export function createFakeSink(): FakeSink {
  const apps = new Map<string, AppSnapshot>();
  const up = new Map<string, boolean>();
  const published: AppSnapshot[] = [];
  return {
    apps,
    up,
    published,
    publish: (snapshot) => {
      if (isOfQuery(snapshot)) return;
      apps.set(snapshot.application.id, snapshot);
      published.push(snapshot);
    },
    remove: (_account, id) => {
      apps.delete(id);
    },
    accountUp: (account, isUp) => {
      up.set(account, isUp);
    },
    leftOutOf: () => ({ duplicate: 0, max_series: 0, fault: 0 }),
    removeAccount: (account) => {
      up.delete(account);
      apps.clear();
    },
  };
}
