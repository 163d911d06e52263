import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../model/clock.ts';
import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';

export interface AppPublisherOptions {
  readonly account: string;
}

export interface AppPublisherDependencies {
  readonly clock: Clock;
  readonly sink: SnapshotSink;
  /** What is to be seen of an application now; `undefined` for nothing. */
  readonly snapshotOf: (id: string) => AppSnapshot | undefined;
}

/**
 * Hands what has changed to the sink, and nothing else. An application is published as a whole; many
 * at once are published one after the other, with turns for other work in between.
 */
export interface AppPublisher {
  publish(id: string): void;
  /** The first of them at once, the others soon. */
  publishAll(ids: Iterable<string>): void;
  remove(id: string): void;
  /** What is not published by now will not be. */
  stop(): void;
}

/** Hosts that are rendered without a break: some milliseconds. */
const atATime = 1000;
/** What it takes to render an application without its hosts, */
const applicationWork = 5;
/** and to see that it has not changed. */
const unchangedWork = 0.3;

export function createAppPublisher(
  { account }: AppPublisherOptions,
  { clock, sink, snapshotOf }: AppPublisherDependencies,
): AppPublisher {
  const published = new Map<string, AppSnapshot>();
  const waiting = new Set<string>();
  let cancelTimer: (() => void) | undefined;

  const remove = (id: string): void => {
    published.delete(id);
    sink.remove(account, id);
  };

  /** Returns how much work it was. */
  const publish = (id: string): number => {
    waiting.delete(id);
    const snapshot = snapshotOf(id);
    if (snapshot === undefined) {
      if (published.has(id)) remove(id);
      return 0;
    }
    if (isSame(published.get(id), snapshot)) return unchangedWork;
    published.set(id, snapshot);
    sink.publish(snapshot);
    return applicationWork + (snapshot.reading?.hosts.size ?? 0);
  };

  const publishSome = (): void => {
    cancelTimer = undefined;
    let work = 0;
    for (const id of waiting) {
      if (work >= atATime) {
        cancelTimer = clock.after(0, publishSome);
        return;
      }
      work += publish(id);
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

/** Whether the two look alike: their parts are immutable, so mostly their identity tells. */
function isSame(left: AppSnapshot | undefined, right: AppSnapshot): boolean {
  return (
    left !== undefined &&
    left.reading === right.reading &&
    left.hostsOnly === right.hostsOnly &&
    left.hostNames === right.hostNames &&
    left.pollSucceeded === right.pollSucceeded &&
    left.lastSuccessMs === right.lastSuccessMs &&
    isDeepStrictEqual(left.labels, right.labels) &&
    isDeepStrictEqual(left.application, right.application)
  );
}
