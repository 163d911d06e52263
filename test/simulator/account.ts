import type { Answer } from '../../src/simulator/answer.ts';
import { CallCounter } from '../../src/simulator/call-counter.ts';
import { Fleet } from '../../src/simulator/fleet.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { parseEndpoint } from '../../src/simulator/request.ts';
import { RestRoutes } from '../../src/simulator/rest-routes.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

/** Answers without HTTP, with a clock that starts at 2026-09-01T10:00:30Z. */
export interface Account {
  readonly clock: FakeClock;
  readonly fleet: Fleet;
  readonly get: (target: string) => Answer;
  /** The document of an answer, which must be a 200. */
  readonly read: (target: string) => unknown;
}

export function anAccount(
  fleetOptions: FleetOptions = {},
  options: SimulatorOptions = {},
): Account {
  const clock = createFakeClock();
  const fleet = new Fleet(fleetOptions, clock);
  const counting = {
    seed: fleetOptions.seed ?? 1,
    traffic: fleetOptions.traffic ?? 'daily',
    ingestDelayMs: 180_000,
  };
  const calls = new CallCounter(counting, clock);
  const routes = new RestRoutes(options, { fleet, calls, clock });
  const get = (target: string): Answer => {
    const [path = '', query = ''] = target.split('?');
    return routes.answer(parseEndpoint(path), path, query);
  };
  return {
    clock,
    fleet,
    get,
    read: (target) => {
      const answer = get(target);
      if (answer.status !== 200) throw new Error(`${target}: ${answer.status} ${answer.body}`);
      const document: unknown = JSON.parse(answer.body);
      return document;
    },
  };
}
