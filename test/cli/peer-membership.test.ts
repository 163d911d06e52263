import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPeerMembership, type PeerMembership } from '../../src/cli/peer-membership.ts';

const settleMs = 75_000;

describe('createPeerMembership', () => {
  it('has everything at once when it finds nobody else', () => {
    const membership = createPeerMembership('10.0.0.1');

    const isChanged = membership.seen(['10.0.0.1'], 0);

    expect(isChanged).toBe(true);
    expect(membership.current().shard).toEqual({ self: '10.0.0.1', members: ['10.0.0.1'] });
    expect(membership.current().budgetOf(800)).toBe(784);
  });

  it('owns nothing before DNS has it', () => {
    const membership = createPeerMembership('10.0.0.9');

    membership.seen(['10.0.0.1', '10.0.0.2'], 0);

    expect(membership.current().shard.members).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  it('lets those who are there make room before it joins them', () => {
    const membership = createPeerMembership('10.0.0.2');
    membership.seen(['10.0.0.2', '10.0.0.1'], 0);

    const joining = membership.current();
    const isChangedBefore = membership.seen(['10.0.0.1', '10.0.0.2'], settleMs - 1);
    const isChanged = membership.seen(['10.0.0.1', '10.0.0.2'], settleMs);

    expect(joining.shard.members).toEqual(['10.0.0.1']);
    expect(joining.budgetOf(800)).toBe(4);
    expect([isChangedBefore, isChanged]).toEqual([false, true]);
    expect(membership.current().shard.members).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(membership.current().budgetOf(800)).toBe(392);
  });

  it('gives its part away at once, and takes that of others only when they cannot use it any more', () => {
    const membership = createPeerMembership('a');
    membership.seen(['a'], 0);

    membership.seen(['a', 'b'], 100_000);
    const shared = membership.current().budgetOf(100);
    const isChanged = membership.seen(['a'], 200_000);
    const alone = membership.current();
    const isSettledBefore = membership.settled(200_000 + settleMs - 1);
    const isSettled = membership.settled(200_000 + settleMs);

    expect(shared).toBe(49);
    expect(isChanged).toBe(true);
    expect(alone.shard.members).toEqual(['a']);
    expect(alone.budgetOf(100)).toBe(49);
    expect([isSettledBefore, isSettled]).toEqual([false, true]);
    expect(membership.current().budgetOf(100)).toBe(98);
  });

  it('owns nothing any more when DNS has lost it: the others have taken over', () => {
    const membership = createPeerMembership('a');
    membership.seen(['a'], 0);

    membership.seen(['b'], 1000);

    expect(membership.current().shard.members).toEqual(['b']);
  });

  it('never lets all members together exceed the budget, whenever others come and go', () => {
    const step = fc.record({
      gapMs: fc.integer({ min: 10_000, max: 60_000 }),
      others: fc.subarray(['b', 'c', 'd', 'e', 'f']),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const running = new Map<string, PeerMembership>();
        const shares: { readonly atMs: number; readonly name: string; readonly share: number }[] =
          [];
        let nowMs = 0;
        for (const { gapMs, others } of steps) {
          nowMs += gapMs;
          const present = ['a', ...others];
          for (const name of running.keys()) {
            if (!present.includes(name)) running.delete(name);
          }
          for (const name of present) {
            const membership = running.get(name) ?? createPeerMembership(name);
            running.set(name, membership);
            membership.seen(present, nowMs);
            shares.push({ atMs: nowMs, name, share: membership.current().budgetOf(1000) });
          }

          // What each one can have sent in the last minute is its largest share in that time, and
          // the share that was in force when the minute began.
          const firstMs = shares.findLast(({ atMs }) => atMs <= nowMs - 60_000)?.atMs ?? 0;
          const largest = new Map<string, number>();
          for (const { atMs, name, share } of shares) {
            if (atMs >= firstMs) largest.set(name, Math.max(share, largest.get(name) ?? 0));
          }
          const sum = [...largest.values()].reduce((total, share) => total + share, 0);
          expect(sum).toBeLessThanOrEqual(1000);
        }
      }),
      { numRuns: 300 },
    );
  });
});
