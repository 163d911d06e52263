import type { Selector } from '../../../src/model/config.ts';
import type { Discovery } from '../../../src/model/source.ts';
import type { ApiRequest } from '../../../src/newrelic/calls/transport.ts';
import { createDiscover } from '../../../src/newrelic/nerdgraph/discovery.ts';
import { createGraphqlClient } from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import { createFaults } from '../../../src/simulator/faults.ts';
import { createSimulator } from '../../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { neverAborted } from '../calls/fakes.ts';
import { transportTo } from './a-nerdgraph-source.ts';
import { accountId } from './answers.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

export const all: Selector = { kind: 'match', pattern: /^/u };
export const shop: Selector = { kind: 'name', name: 'shop' };
export const cart: Selector = { kind: 'id', id: '102' };

export interface Bench {
  readonly clock: FakeClock;
  readonly requests: readonly ApiRequest[];
  /** Kinds of unexpected, each as often as it was seen. */
  readonly unexpected: () => readonly string[];
  readonly discover: (
    selectors: readonly Selector[],
    knownIds?: readonly string[],
    signal?: AbortSignal,
  ) => Promise<Discovery>;
  /** The searches so far, without what all have in common. */
  readonly searches: () => readonly string[];
  readonly remove: (id: number) => void;
}

export function aBench(faults: readonly FaultRule[] = [], options: SimulatorOptions = {}): Bench {
  const clock = createFakeClock();
  const simulator = createSimulator(
    {
      ingestDelayMs: 0,
      fleet: {
        applications: [
          { id: 101, name: 'shop', kind: 'web', hosts: [{ name: 'b' }, { name: 'a' }] },
          { id: 102, name: 'cart', kind: 'web', hosts: [{ name: 'c' }] },
          { id: 103, name: 'silent', kind: 'not_reporting', hosts: 1 },
        ],
      },
      intercept: createFaults(faults, { clock }).intercept,
      ...options,
    },
    { clock },
  );
  const requests: ApiRequest[] = [];
  const unexpected = createRecordingUnexpectedAnswers();
  const send = transportTo(simulator);
  const client = createGraphqlClient({
    accountId,
    timeoutMs: () => 30_000,
    send: async (request, signal) => {
      requests.push(request);
      return send(request, signal);
    },
    observer: { failed: () => undefined, invalidSample: () => undefined },
    unexpected,
  });
  const wallMs = (): number => clock.wallMs();
  const discover = createDiscover(accountId, { client, unexpected, wallMs });
  const prefix = "domain = 'APM' AND type = 'APPLICATION' AND accountId = '1234567'";
  return {
    clock,
    requests,
    unexpected: () => unexpected.kinds(),
    discover: async (selectors, knownIds = [], signal = neverAborted) =>
      discover({ selectors }, knownIds, signal),
    searches: () =>
      requests
        .filter(({ body }) => body?.includes('"search"') === true)
        .map(
          ({ body }) =>
            /"search":"(.*?)","cursor/u.exec(body ?? '')?.[1]?.replace(prefix, '') ?? '',
        ),
    remove: (id) => {
      simulator.fleet.removeApplication(id);
    },
  };
}

export function idsOf({ applications }: Discovery): readonly string[] {
  return applications.map(({ id }) => id);
}
