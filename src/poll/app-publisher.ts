import { isDeepStrictEqual } from 'node:util';
import { bareApplication } from '../model/application.ts';
import { labelsOf } from '../model/selected-application.ts';
import type { AppSnapshot, Snapshot, SnapshotSink } from '../model/snapshot.ts';
import type { AppState } from './app-state.ts';
import type { LetOthersRun } from './reconcile.ts';

/** Applications and hosts that are rendered in one turn of the event loop, however many their series are. */
export const subjectsPerTurn = 200;

/** Passes what has changed, and nothing else, to the sink. An application is published as a whole. */
export class AppPublisher {
  readonly #account: string;
  readonly #sink: SnapshotSink;
  readonly #snapshotOf: (id: string) => Snapshot | undefined;
  readonly #published = new Map<string, Snapshot>();

  /** @param snapshotOf what to show of an application or query now; `undefined` for nothing */
  constructor(
    account: string,
    sink: SnapshotSink,
    snapshotOf: (id: string) => Snapshot | undefined,
  ) {
    this.#account = account;
    this.#sink = sink;
    this.#snapshotOf = snapshotOf;
  }

  /** Returns how many subjects, with their hosts or series, were rendered or looked at. */
  publish(id: string): number {
    const snapshot = this.#snapshotOf(id);
    if (isDeepStrictEqual(this.#published.get(id), snapshot)) return 1;
    if (snapshot === undefined) {
      this.#published.delete(id);
      this.#sink.remove(this.#account, id);
      return 1;
    }
    this.#published.set(id, snapshot);
    this.#sink.publish(snapshot);
    return 1 + sizeOf(snapshot);
  }

  /** Publishes them in several turns of the event loop, so that other work can run in between. */
  async publishAll(ids: readonly string[], letOthersRun: LetOthersRun): Promise<void> {
    let subjects = 0;
    for (const id of ids) {
      if (subjects >= subjectsPerTurn) {
        subjects = 0;
        await letOthersRun();
      }
      subjects += this.publish(id);
    }
  }
}

/** Hosts, or series of a query. */
function sizeOf(snapshot: Snapshot): number {
  const { reading } = snapshot;
  if (reading === undefined) return 0;
  return 'hosts' in reading ? reading.hosts.size : reading.series.length;
}

/** What to publish. Of a stale discovery only the identity of the application remains. */
export function appSnapshotOf(
  account: string,
  state: AppState,
  isDiscoveryStale: boolean,
): AppSnapshot {
  const { application, entry } = state.selected;
  return {
    account,
    application: isDiscoveryStale ? bareApplication(application) : application,
    labels: labelsOf(state.selected),
    hostsOnly: !entry.application,
    hostNames: state.hostNames,
    reading: state.reading,
    pollSucceeded: state.pollSucceeded,
    failureReason: state.pollSucceeded === false ? state.failure?.reason : undefined,
    lastSuccessMs: state.lastSuccessMs,
  };
}
