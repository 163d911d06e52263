import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCallCounter } from '../../src/simulator/call-counter.ts';
import { createFleet, type Fleet } from '../../src/simulator/fleet.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import type { SimulatedApplication } from '../../src/simulator/simulated-application.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const minuteMs = 60_000;
const wallStartMs = Date.UTC(2026, 8, 1, 10, 0, 30);
const tenOClockMs = Date.UTC(2026, 8, 1, 10, 0, 0);

interface Counting {
  readonly clock: FakeClock;
  readonly fleet: Fleet;
  readonly application: () => SimulatedApplication;
  /** Web calls of the application, or of one of its hosts. */
  readonly count: (fromMs: number, toMs: number, hostId?: number) => number;
}

function counting(
  spec: ApplicationSpec,
  traffic: 'daily' | 'flat' = 'flat',
  ingestDelayMs = 180_000,
): Counting {
  const clock = createFakeClock(wallStartMs);
  const fleet = createFleet(
    { applications: [{ id: 1, kind: 'web', ...spec }], traffic },
    { clock },
  );
  const calls = createCallCounter({ seed: 1, traffic, ingestDelayMs }, { clock });
  const application = (): SimulatedApplication => {
    const found = fleet.application(1);
    if (found === undefined) throw new Error('no application 1');
    return found;
  };
  return {
    clock,
    fleet,
    application,
    count: (fromMs, toMs, hostId) => {
      const host = hostId === undefined ? undefined : application().hosts.get(hostId);
      return calls.count(application(), host, 'HttpDispatcher', fromMs, toMs);
    },
  };
}

describe('createCallCounter', () => {
  it('counts the flat rate exactly, divided by weight', () => {
    const { count } = counting({
      webRpm: 120,
      hosts: [
        { id: 11, weight: 1 },
        { id: 12, weight: 3 },
      ],
    });
    const fromMs = tenOClockMs - 10 * minuteMs;

    expect(count(fromMs, fromMs + 5 * minuteMs)).toBe(600);
    expect(count(fromMs, fromMs + 5 * minuteMs, 11)).toBe(150);
    expect(count(fromMs, fromMs + 5 * minuteMs, 12)).toBe(450);
  });

  it('is the sum of the hosts for the application, in every range of complete minutes', () => {
    const { count, application } = counting({ webRpm: 777, hosts: 7 }, 'daily');
    const ids = [...application().hosts.keys()];

    fc.assert(
      fc.property(fc.integer({ min: 4, max: 3000 }), fc.nat({ max: 40 }), (age, minutes) => {
        const fromMs = tenOClockMs - (age + minutes) * minuteMs;
        const toMs = fromMs + minutes * minuteMs;
        const ofHosts = ids.reduce((sum, id) => sum + count(fromMs, toMs, id), 0);

        expect(count(fromMs, toMs)).toBe(ofHosts);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    { what: 'three minutes old and complete', endMinutesAgo: 3, calls: 100 },
    { what: 'two minutes old', endMinutesAgo: 2, calls: 87 },
    { what: 'one minute old', endMinutesAgo: 1, calls: 62 },
    { what: 'just over', endMinutesAgo: 0, calls: 37 },
    { what: 'still running', endMinutesAgo: -1, calls: 12 },
    { what: 'in the future', endMinutesAgo: -2, calls: 0 },
  ])('has $calls of 100 calls of a minute that is $what', ({ endMinutesAgo, calls }) => {
    const { count } = counting({ webRpm: 100, hosts: 1 });
    const toMs = tenOClockMs - endMinutesAgo * minuteMs;

    expect(count(toMs - minuteMs, toMs)).toBe(calls);
  });

  it('counts a host from its start to its end', async () => {
    const { count, clock, fleet } = counting({ webRpm: 60, hosts: [{ id: 11 }] }, 'flat', 0);

    fleet.addHost(1, { id: 12 });
    await clock.advance(5 * minuteMs);
    fleet.removeHost(1, 11);
    await clock.advance(5 * minuteMs);
    const endMs = tenOClockMs + 10 * minuteMs;

    expect(count(tenOClockMs - 10 * minuteMs, endMs, 11)).toBe(16 * 60);
    expect(count(tenOClockMs - 10 * minuteMs, endMs, 12)).toBe(9 * 60);
    expect(count(tenOClockMs - 10 * minuteMs, endMs)).toBe(25 * 60);
  });

  it('applies a new rate to past minutes too', () => {
    const { count, fleet } = counting({ webRpm: 60, hosts: 1 });
    const fromMs = tenOClockMs - 10 * minuteMs;
    const before = count(fromMs, fromMs + minuteMs);

    fleet.setTraffic(1, { webRpm: 5 });

    expect(before).toBe(60);
    expect(count(fromMs, fromMs + minuteMs)).toBe(5);
  });
});
