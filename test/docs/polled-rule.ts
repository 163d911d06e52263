import { z } from 'zod';
import type { Config } from '../../src/model/config.ts';
import type { Page } from '../support/daemon-process.ts';

const targetsSchema = z.object({
  data: z.object({
    activeTargets: z.array(
      z.object({
        discoveredLabels: z.record(z.string(), z.string()),
        state: z.string(),
        hosts: z.number(),
      }),
    ),
    accounts: z.array(
      z.object({
        name: z.string(),
        state: z.string(),
        missing: z.array(z.unknown()),
        missingMetrics: z.array(z.unknown()),
        demandRequestsPerMinute: z.number().nullable(),
      }),
    ),
    queries: z.array(
      z.object({
        query: z.string(),
        state: z.string(),
        series: z.number(),
        unusable: z.record(z.string(), z.number()),
      }),
    ),
  }),
});

/** What a daemon polls. */
export interface Polled {
  /** What of its configuration does not have values, one sentence each. Empty: everything does. */
  readonly problems: readonly string[];
  readonly hosts: number;
  /** Calls a minute that all accounts ask for. */
  readonly demand: number;
}

/** Asks a daemon, by the path of a page of its, how far it has come with this configuration. */
export async function polledOf(
  config: Config,
  page: (path: string) => Promise<Page>,
): Promise<Polled> {
  const body: unknown = JSON.parse((await page('/api/v1/targets')).text);
  const { accounts, activeTargets, queries } = targetsSchema.parse(body).data;
  const metrics = (await page('/metrics')).text;
  const targets = activeTargets.map(({ discoveredLabels, state }) => {
    const label = (name: string): string => discoveredLabels[`__meta_newrelic_${name}`] ?? '';
    return { state, id: label('app_id'), entry: `${label('account')} ${label('selector')}` };
  });
  const hasValues = (id: string): boolean =>
    new RegExp(`^newrelic_application_(?:host_)?requests_\\w+\\{.*app_id="${id}"`, 'mu').test(
      metrics,
    );
  const wanted = config.apps.filter(({ exclude }) => !exclude).length;
  const chosen = new Set(targets.map(({ entry }) => entry)).size;
  return {
    problems: [
      ...accounts
        .filter(({ state }) => state !== 'up')
        .map(({ name, state }) => `the account ${name} is ${state}`),
      ...accounts
        .flatMap(({ missing, missingMetrics }) => [...missing, ...missingMetrics])
        .map((missing) => `missing: ${JSON.stringify(missing)}`),
      ...(chosen === wanted ? [] : [`${chosen} of ${wanted} entries choose something`]),
      ...targets
        .filter(({ state, id }) => state !== 'up' || !hasValues(id))
        .map(({ entry, id, state }) => `${entry}: ${id} has no values, or is ${state}`),
      ...((config.queries ?? []).length === queries.length ? [] : ['a query is not polled']),
      ...queries
        .filter(({ state, series, unusable }) => {
          return state !== 'up' || series === 0 || Object.keys(unusable).length > 0;
        })
        .map(({ query, state }) => `the query ${query} has no values, or is ${state}`),
    ],
    hosts: activeTargets.reduce((sum, { hosts }) => sum + hosts, 0),
    demand: accounts.reduce((sum, account) => sum + (account.demandRequestsPerMinute ?? 0), 0),
  };
}
