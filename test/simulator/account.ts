import { z } from 'zod';
import type { Answer } from '../../src/simulator/answer.ts';
import { createCallCounter } from '../../src/simulator/call-counter.ts';
import { createFleet, type Fleet } from '../../src/simulator/fleet.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { parseEndpoint } from '../../src/simulator/request.ts';
import { createRoutes, type RouteOptions } from '../../src/simulator/routes.ts';
import { createTimeslices } from '../../src/simulator/timeslices.ts';
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
  routeOptions: Partial<RouteOptions> = {},
): Account {
  const clock = createFakeClock();
  const fleet = createFleet(fleetOptions, { clock });
  const counting = {
    seed: fleetOptions.seed ?? 1,
    traffic: fleetOptions.traffic ?? 'daily',
    ingestDelayMs: 180_000,
  };
  const calls = createCallCounter(counting, { clock });
  const timeslices = createTimeslices(counting, { calls, clock });
  const routes = createRoutes(
    {
      pageSize: 200,
      metricNamesPageSize: 1000,
      linkStyle: 'observed',
      shuffle: 'none',
      hostsEndpoint: true,
      removedHost: 'empty',
      idleMetric: 'zero',
      ...routeOptions,
    },
    { fleet, calls, timeslices, clock },
  );
  const get = (target: string): Answer => {
    const [path = '', query = ''] = target.split('?');
    return routes(parseEndpoint(path), path, query);
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

const oneSlice = z.object({
  metric_data: z.object({
    metrics: z.tuple([
      z.object({
        timeslices: z.tuple([z.object({ values: z.record(z.string(), z.number()) })]),
      }),
    ]),
  }),
});

/** The values of a document that has one metric, summarized. */
export function valuesOfOneSlice(document: unknown): Readonly<Record<string, number>> {
  return oneSlice.parse(document).metric_data.metrics[0].timeslices[0].values;
}
