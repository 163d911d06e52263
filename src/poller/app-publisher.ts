import { isDeepStrictEqual } from 'node:util';
import type { FailureReason } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { Clock } from '../model/clock.ts';
import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import type { AppState } from './app-state.ts';

export interface AppPublisherDependencies {
  readonly clock: Clock;
  readonly sink: SnapshotSink;
  /** What to show of an application now; `undefined` for nothing. */
  readonly snapshotOf: (id: string) => AppSnapshot | undefined;
}

/**
 * Passes what has changed, and nothing else, to the sink. An application is published as a whole.
 * Many applications are published in several turns of the event loop, so that other work can run in
 * between.
 */
export interface AppPublisher {
  publish(id: string): void;
  /** Publishes the first of them at once, and the others soon. */
  publishAll(ids: Iterable<string>): void;
  remove(id: string): void;
  /** Publishes nothing more of what still waits. */
  stop(): void;
}

/** Applications and hosts that are rendered in one turn of the event loop, however many their series are. */
export const subjectsPerTurn = 200;

export function createAppPublisher(
  { account }: { readonly account: string },
  { clock, sink, snapshotOf }: AppPublisherDependencies,
): AppPublisher {
  const published = new Map<string, AppSnapshot>();
  const waiting = new Set<string>();
  let cancelTimer: (() => void) | undefined;

  const remove = (id: string): void => {
    published.delete(id);
    sink.remove(account, id);
  };

  /** Returns how many subjects were rendered, or looked at. */
  const publish = (id: string): number => {
    waiting.delete(id);
    const snapshot = snapshotOf(id);
    if (snapshot === undefined) {
      if (published.has(id)) remove(id);
    } else if (!isSame(published.get(id), snapshot)) {
      published.set(id, snapshot);
      sink.publish(snapshot);
      return 1 + (snapshot.reading?.hosts.size ?? 0);
    }
    return 1;
  };

  const publishSome = (): void => {
    cancelTimer = undefined;
    let subjects = 0;
    for (const id of waiting) {
      if (subjects >= subjectsPerTurn) {
        cancelTimer = clock.after(0, publishSome);
        return;
      }
      subjects += publish(id);
    }
  };

  return {
    publish: (id) => {
      publish(id);
    },
    publishAll: (ids) => {
      for (const id of ids) waiting.add(id);
      cancelTimer?.();
      publishSome();
    },
    remove,
    stop: () => {
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}

/** Whether the two look alike. Another reading counts as news: to compare all its values takes long. */
function isSame(left: AppSnapshot | undefined, right: AppSnapshot): boolean {
  return left !== undefined && left.reading === right.reading && isDeepStrictEqual(left, right);
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
    application: isDiscoveryStale ? identityOf(application) : application,
    labels: entry.labels,
    hostsOnly: !entry.application,
    hostNames: state.hostNames.names,
    reading: state.reading,
    pollSucceeded: state.pollSucceeded,
    failureReason: failureReasonOf(state),
    lastSuccessMs: state.lastSuccessMs,
  };
}

/** Of a poll that hangs, no outcome says why. */
function failureReasonOf({ pollSucceeded, failure }: AppState): FailureReason | undefined {
  return pollSucceeded === false ? (failure?.reason ?? 'timeout') : undefined;
}

function identityOf({ id, name, language }: Application): Application {
  return {
    id,
    name,
    language,
    healthStatus: undefined,
    reporting: undefined,
    lastReportedAtMs: undefined,
    summary: undefined,
    hostIds: undefined,
    instances: undefined,
  };
}
