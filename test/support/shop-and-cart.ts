import { createSystemClock } from '../../src/daemon/node-platform.ts';
import type { Clock } from '../../src/model/clock.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';

/** The applications 101, shop, and 102, cart, each with web requests on so many hosts. */
export function shopAndCartFleet(hosts: number): FleetOptions {
  return {
    traffic: 'flat',
    applications: [
      { id: 101, name: 'shop', kind: 'web', webRpm: 120, hosts },
      { id: 102, name: 'cart', kind: 'web', webRpm: 60, hosts },
    ],
  };
}

/** Both with one host. */
export function shopAndCart(apiKey: string, clock: Clock = createSystemClock()): Simulator {
  return createSimulator(
    { apiKeys: [apiKey], ingestDelayMs: 0, fleet: shopAndCartFleet(1) },
    { clock },
  );
}
