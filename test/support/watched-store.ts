import type { SnapshotSink } from '../../src/model/snapshot.ts';
import type { SeriesStore } from '../../src/publish/series-store.ts';

/** Makes what is called in place of methods of the store; the others stay. */
export type WatchStore = (store: SnapshotSink) => Partial<SnapshotSink>;

/** From now on what pollers publish comes to `watch` first. */
export function watchStore(store: SeriesStore, watch: WatchStore): void {
  const own: SnapshotSink = {
    publish: store.publish.bind(store),
    remove: store.remove.bind(store),
    accountUp: store.accountUp.bind(store),
    removeAccount: store.removeAccount.bind(store),
    leftOutOf: store.leftOutOf.bind(store),
  };
  Object.assign(store, watch(own));
}
