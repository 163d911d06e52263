import type { Clock } from '../model/clock.ts';
import { isWorthPolling, type SelectedApplication } from '../model/selected-application.ts';
import type { CallCosts, HostNames, Question, Source } from '../model/source.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import type { InvalidSampleListener } from '../newrelic/json.ts';
import type { Transport } from '../transport/transport.ts';
import type { BatchColumns } from './column-sets.ts';
import { createDiscover } from './discovery.ts';
import { createGraphqlClient } from './graphql-client.ts';
import { hostQueriesOf } from './host-query-plan.ts';
import { createNerdGraphBatch } from './nerdgraph-batch.ts';
import {
  applicationQueriesOf,
  batchColumnsOf,
  batchesOf,
  choosingHosts,
  fillUp,
  recordedQueriesOf,
  type SelectedOf,
} from './query-plan.ts';
import { createQuerySizes, fullSize, type QuerySize } from './query-sizes.ts';
import { createRecordedMetrics } from './recorded-metrics.ts';
import { createUnexpectedAnswers } from './unexpected-answers.ts';

export interface NerdGraphSourceOptions {
  /** The account's name, for the log. */
  readonly account: string;
  readonly accountId: number;
  /** How long a whole call may take. */
  readonly timeoutMs: () => number;
}

export interface NerdGraphSourceDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'failed' | 'invalidSample' | 'unexpected'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** New Relic's wall time, which this machine's may differ from. */
  readonly vendorWallMs: () => number;
}

/** Entities on a page. */
const perPage = 200;
/**
 * Half of an interval is the bound that matters. With a budget that is too small the intervals stretch to
 * many minutes, and applications must still come together: apart they would need far more queries.
 */
const gatherMs = 600_000;

/**
 * NerdGraph for one account. Up to 200 applications are asked for in one query, and their hosts in a few
 * more, each query in a request of its own.
 */
export function createNerdGraphSource(
  { account, accountId, timeoutMs }: NerdGraphSourceOptions,
  { send, observer, logger, clock, vendorWallMs }: NerdGraphSourceDependencies,
): Source {
  const unexpected = createUnexpectedAnswers(account, { observer, logger });
  const client = createGraphqlClient({ accountId, timeoutMs }, { send, observer, unexpected });
  const onInvalid: InvalidSampleListener = (reason) => observer.invalidSample(reason);
  const sizes = createQuerySizes({ clock });
  const recorded = createRecordedMetrics();
  const discover = createDiscover(
    { accountId },
    { client, unexpected, clock, wallMs: vendorWallMs, hostsOf: () => undefined },
  );
  /** By application, as the last discovery listed them. */
  let hosts: ReadonlyMap<string, readonly string[]> = new Map();

  return {
    costs: createNerdGraphCosts(() => sizes.current()),
    gatherMs,
    discover: async (selectors, knownIds, signal) => {
      const discovery = await discover({ selectors, knownIds, signal });
      hosts = new Map(discovery.applications.map(({ id, hostIds }) => [id, hostIds ?? []]));
      if (discovery.complete) {
        recorded.keepOnly(new Set([...hosts.keys(), ...discovery.unreadableIds]));
      }
      return discovery;
    },
    // The discovery has listed them: in this API the name of a host is its id.
    hostNames: async (applicationId) => namesOf(hosts.get(applicationId) ?? []),
    batches: (due, early) => {
      const size = sizes.current();
      const selected = new Map<Question, SelectedApplication>(
        [...due, ...early].map((question) => [question, choosingHosts(question.selected)]),
      );
      const selectedOf = (question: Question): SelectedApplication =>
        selected.get(question) ?? question.selected;
      const batches = batchesOf(due, selectedOf, size);
      fillUp(batches, early, selectedOf, size);
      const dependencies = { client, clock, sizes, recorded, unexpected, onInvalid, selectedOf };
      return batches.map((batch) => createNerdGraphBatch(batch, dependencies));
    },
  };
}

function itself(selected: SelectedApplication): SelectedApplication {
  return selected;
}

/** Patterns are slow, and the functions of the plan look at the chosen hosts many times. */
function chosenOnce(selected: SelectedApplication): SelectedApplication {
  return selected.namedHostIds === undefined ? choosingHosts(selected) : selected;
}

function namesOf(hostIds: readonly string[]): HostNames {
  return { names: new Map(hostIds.map((name) => [name, name])), error: undefined, calls: 0 };
}

/** What NerdGraph costs with queries of full size. */
export const nerdGraphCosts: CallCosts = createNerdGraphCosts(() => fullSize);

/** The number of queries, by the same functions that make them. */
export function createNerdGraphCosts(sizeNow: () => QuerySize): CallCosts {
  return {
    polls: (applications) => {
      const size = sizeNow();
      const polled = applications.filter(isWorthPolling).map(chosenOnce);
      const batches = batchesOf(polled, itself, size);
      return {
        list_applications: 0,
        list_hosts: 0,
        application_metrics: sumOver(batches, applicationQueriesOf, size),
        host_metrics: sumOver(batches, hostQueriesOf, size),
      };
    },
    // Which metrics an application has at all: asked once, with its first poll.
    onceOperation: 'application_metrics',
    once: (applications) => {
      const size = sizeNow();
      const batches = batchesOf(applications.map(chosenOnce), itself, size);
      return sumOver(batches, recordedQueriesOf, size);
    },
    discovery: ({ length }) => ({ calls: Math.max(1, Math.ceil(length / perPage)) }),
    // Not measured on the real API: a query may take 5 s there by default.
    usualCallMs: { mean: 1000, most: 3000 },
  };
}

/** The number of queries of one kind for all of these batches. */
function sumOver(
  batches: readonly (readonly SelectedApplication[])[],
  queriesOf: (
    batch: readonly SelectedApplication[],
    columns: BatchColumns,
    selectedOf: SelectedOf<SelectedApplication>,
    size: QuerySize,
  ) => readonly unknown[],
  size: QuerySize,
): number {
  return batches.reduce(
    (sum, batch) => sum + queriesOf(batch, batchColumnsOf(batch, itself), itself, size).length,
    0,
  );
}
