import { describe, expect, it } from 'vitest';
import { createPeerMembership } from '../../src/cli/peer-membership.ts';
import { createPeerWatcher } from '../../src/cli/peer-watcher.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakeMachine } from '../support/fake-machine.ts';

const dnsName = 'exporter-peers.monitoring.svc';

function aBench(answers: readonly (readonly string[] | undefined)[]) {
  const names: string[] = [];
  const machine = createFakeMachine({
    lookUp: async (name) => {
      const answer = answers[Math.min(names.length, answers.length - 1)];
      names.push(name);
      if (answer === undefined) throw new Error('ENOTFOUND');
      return answer;
    },
  });
  const logger = createFakeLogger();
  const membership = createPeerMembership('10.0.0.1');
  const watcher = createPeerWatcher({ dnsName }, { machine, logger, membership });
  return { machine, logger, membership, watcher, names };
}

describe('createPeerWatcher', () => {
  it('looks every ten seconds, and tells when something has changed', async () => {
    const alone = ['10.0.0.1'];
    const { machine, membership, watcher, names } = aBench([alone, alone, [...alone, '10.0.0.2']]);
    const seen: (readonly string[])[] = [];
    const abort = new AbortController();
    await watcher.look();

    const watching = watcher.watch(async () => {
      seen.push(membership.current().shard.members);
    }, abort.signal);
    await machine.clock.advance(20_000);
    abort.abort();
    await watching;

    expect(names).toEqual([dnsName, dnsName, dnsName]);
    expect(seen).toEqual([['10.0.0.1', '10.0.0.2']]);
    expect(machine.clock.pendingTimers()).toBe(0);
  });

  it('keeps the last peers while DNS does not answer, and says so once', async () => {
    const { logger, membership, watcher } = aBench([
      ['10.0.0.1'],
      undefined,
      undefined,
      ['10.0.0.1'],
    ]);

    const changes = [];
    for (let look = 0; look < 4; look += 1) changes.push(await watcher.look());

    expect(changes).toEqual([true, false, false, false]);
    expect(membership.current().shard.members).toEqual(['10.0.0.1']);
    expect(logger.lines.map(({ message }) => message)).toEqual([
      'shards changed',
      'peers cannot be looked up',
      'peers can be looked up again',
    ]);
  });

  it('takes its part of those who left when their minute is over, although DNS does not answer', async () => {
    const { machine, membership, watcher } = aBench([
      ['10.0.0.1'],
      ['10.0.0.1', '10.0.0.2'],
      ['10.0.0.1'],
      undefined,
    ]);
    for (let look = 0; look < 3; look += 1) await watcher.look();
    const before = membership.current().budgetOf(100);
    await machine.clock.advance(75_000);

    const isChanged = await watcher.look();

    expect(isChanged).toBe(true);
    expect([before, membership.current().budgetOf(100)]).toEqual([49, 98]);
  });
});
