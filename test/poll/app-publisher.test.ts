import { describe, expect, it } from 'vitest';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { AppPublisher, appSnapshotOf } from '../../src/poll/app-publisher.ts';
import { type AppState, newAppState } from '../../src/poll/app-state.ts';
import { anApplication, aSelected, throughputSeries } from '../support/builders.ts';
import { createFakeSink, type FakeSink } from '../support/fake-sink.ts';

function snapshotWith(id: string, hosts: number): AppSnapshot {
  const values = [1];
  return {
    account: 'production',
    application: anApplication({ id }),
    hostsOnly: false,
    labels: {},
    hostNames: new Map(),
    reading: {
      windowEndMs: 0,
      series: throughputSeries,
      application: values,
      hosts: new Map(Array.from({ length: hosts }, (_, host) => [String(host), values])),
    },
    pollSucceeded: true,
    failureReason: undefined,
    lastSuccessMs: 0,
  };
}

function aThousand(hosts: number): {
  readonly sink: FakeSink;
  readonly publisher: AppPublisher;
  readonly ids: readonly string[];
} {
  const sink = createFakeSink();
  const publisher = new AppPublisher('production', sink, (id) => snapshotWith(id, hosts));
  return { sink, publisher, ids: Array.from({ length: 1000 }, (_, id) => String(id)) };
}

describe('publishAll', () => {
  it.each([
    { what: 'applications alone', hosts: 0, most: 250 },
    { what: 'applications of a hundred hosts', hosts: 100, most: 10 },
  ])(
    'lets other work run in between, and publishes everything in the end: $what',
    async ({ hosts, most }) => {
      const { sink, publisher, ids } = aThousand(hosts);
      let before = 0;
      const turns: number[] = [];
      const endTurn = (): void => {
        turns.push(sink.published.length - before);
        before = sink.published.length;
      };

      await publisher.publishAll(ids, async () => endTurn());
      endTurn();

      expect(Math.min(...turns)).toBeGreaterThan(0);
      expect(Math.max(...turns)).toBeLessThanOrEqual(most);
      expect(sink.published.map(({ application }) => application.id)).toEqual(ids);
    },
  );

  it('ends when the rest is no longer wanted, with what was published by then', async () => {
    const { sink, publisher, ids } = aThousand(0);
    const reason = new Error('the account is stopped');

    const done = publisher.publishAll(ids, async () => Promise.reject(reason));

    await expect(done).rejects.toBe(reason);
    expect(sink.published).toHaveLength(200);
  });
});

const failure = { reason: 'server', message: 'HTTP 500', sinceMs: 0 } as const;

describe('the reason of a failure', () => {
  it.each([
    { what: 'before the first poll', state: {}, reason: undefined },
    { what: 'after a good poll', state: { pollSucceeded: true }, reason: undefined },
    {
      what: 'after a poll that failed',
      state: { pollSucceeded: false, failure },
      reason: 'server',
    },
    {
      what: 'of an application that is gone, whose poll counts as good',
      state: { pollSucceeded: true, gone: true, failure },
      reason: undefined,
    },
  ] satisfies readonly { what: string; state: Partial<AppState>; reason: string | undefined }[])(
    'is $reason $what',
    ({ state, reason }) => {
      const app = { ...newAppState(aSelected(), 0, 0), ...state };

      expect(appSnapshotOf('production', app, false).failureReason).toBe(reason);
    },
  );
});
