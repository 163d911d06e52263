import type { Source } from '../../src/model/source.ts';
import type { Context } from '../../src/poll/context.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { createFakeClock } from './fake-clock.ts';
import { createFakeLogger } from './fake-logger.ts';
import { createFakeSink } from './fake-sink.ts';
import { createFakeSource } from './fake-source.ts';

const aReadableKey = { location: 'file /key', problem: undefined, sinceMs: 0, readMs: 0 };

/** What the parts of an account share, with fakes all around. */
export function aContext(overrides: Partial<Context> = {}): Context {
  const { clock = createFakeClock() } = overrides;
  const calls = overrides.calls ?? accountCalls(clock);
  const source = overrides.source ?? createFakeSource(clock, calls);
  return {
    clock,
    source,
    calls,
    key: { reload: async () => false, status: () => aReadableKey },
    vendorClock: { skew: () => undefined },
    random: () => 0.5,
    sink: createFakeSink(),
    observer: { polled: () => undefined, skipped: () => undefined },
    logger: createFakeLogger(),
    ...overrides,
  };
}

/** A source that nobody asks: it only says what it is like, and what polls cost. */
export function aSilentSource(overrides: Partial<Source> = {}): Source {
  const asked = async (): Promise<never> => {
    throw new Error('nobody should ask');
  };
  return {
    listsHosts: true,
    sharesCalls: false,
    discover: asked,
    groups: (due) => due.map((one) => [one]),
    poll: () => {
      throw new Error('nobody should ask');
    },
    cost: () => ({
      list_applications: 0,
      list_hosts: 0,
      application_metrics: 0,
      host_metrics: 0,
      query: 0,
    }),
    costChanges: () => 0,
    ...overrides,
  };
}
