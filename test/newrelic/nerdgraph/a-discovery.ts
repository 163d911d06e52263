import type { Selector } from '../../../src/model/config.ts';
import type { Discovery } from '../../../src/model/source.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import { createFaults } from '../../../src/simulator/faults.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aSimulatedSource, type SimulatedSource } from './a-nerdgraph-source.ts';

export const everything: Selector = { kind: 'match', pattern: /^/u };
export const shop: Selector = { kind: 'name', name: 'shop' };
export const cart: Selector = { kind: 'id', id: '102' };
const prefix = "domain = 'APM' AND type = 'APPLICATION' AND accountId = '1234567'";

export interface Discovered extends Discovery {
  readonly ids: readonly string[];
}

export interface Bench extends SimulatedSource {
  readonly discover: (
    selectors: readonly Selector[],
    knownIds?: readonly string[],
    signal?: AbortSignal,
  ) => Promise<Discovered>;
  /** The searches so far, without what all have in common. */
  readonly searches: () => readonly string[];
}

/** An account with the applications `shop`, `cart` and `silent`, and these faults. */
export function aBench(faults: readonly FaultRule[] = [], options: SimulatorOptions = {}): Bench {
  const clock = createFakeClock();
  const applications = [
    { id: 101, name: 'shop', kind: 'web', hosts: [{ name: 'b' }, { name: 'a' }] },
    { id: 102, name: 'cart', kind: 'web', hosts: [{ name: 'c' }] },
    { id: 103, name: 'silent', kind: 'not_reporting', hosts: 1 },
  ] as const;
  const { intercept } = createFaults(faults, { clock });
  const bench = aSimulatedSource({ fleet: { applications }, intercept, ...options }, clock);
  return {
    ...bench,
    discover: async (selectors, knownIds = [], signal = neverAborted) => {
      const found = await bench.source.discover({ selectors }, knownIds, signal);
      return { ...found, ids: found.applications.map(({ id }) => id).toSorted() };
    },
    searches: () => searchesIn(bench).map((text) => text.replace(prefix, '')),
  };
}

/** The texts that were searched. */
export function searchesIn({ requests }: Pick<SimulatedSource, 'requests'>): readonly string[] {
  const bodies = requests.map(({ body = '{}' }): unknown => JSON.parse(body));
  return bodies.flatMap((body) => {
    const { search } = (body as { variables: { search?: string } }).variables;
    return search === undefined ? [] : [search];
  });
}
