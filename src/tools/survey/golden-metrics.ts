import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { ApiError } from '../../model/api-error.ts';
import type { AccountInUse } from '../../model/config.ts';
import { printable } from '../../model/shown-text.ts';
import { isJsonObject, type JsonObject, objectOf, textIn } from '../../newrelic/answer.ts';
import { notWhole } from '../../newrelic/failures.ts';
import { nrqlText } from '../../newrelic/nerdgraph/nrql.ts';
import { askPart, noAccountId, type OpenAccount, withAccounts } from './ask.ts';
import { withSource } from './both-apis.ts';

/** Entities of an account that report, by their domain and type in New Relic. */
export interface EntityType {
  readonly account: string;
  readonly domain: string;
  readonly type: string;
  readonly reporting: number;
}

/** As people name it: SYNTH-MONITOR. */
export function typeName({ domain, type }: EntityType): string {
  return `${domain}-${type}`;
}

/** A metric that New Relic shows of each entity of a type, with the parts of its NRQL; empty if it does not say. */
export type GoldenMetric = Readonly<
  Record<'name' | 'title' | 'unit' | 'select' | 'from' | 'where' | 'facet' | 'eventId', string>
>;

/** Entities of one type, and what New Relic shows of them. */
export interface GoldenEntities extends EntityType {
  readonly metrics: readonly GoldenMetric[];
}

/** What accounts have. */
export interface EntitiesFound {
  readonly types: readonly EntityType[];
  /** Of the type that is wanted. */
  readonly golden: readonly GoldenEntities[];
  /** Whether every account that NerdGraph can be asked about has told all. */
  readonly isWhole: boolean;
}

/**
 * Asks which types of entities report in the accounts, and for the golden metrics of one. Says on standard error
 * what it cannot know. Rejects with the reason of a stop, or with a `CommandError` if no account can be asked.
 *
 * @param wanted such as SYNTH-MONITOR, in capital letters
 */
export async function findEntities(
  all: readonly AccountInUse[],
  wanted: string,
  platform: ToolPlatform,
): Promise<EntitiesFound> {
  const notes: string[] = [];
  const able = all.flatMap(({ account, ...asked }): readonly AccountInUse[] => {
    const { accountId } = account.source;
    if (accountId === undefined) notes.push(`account ${printable(account.name)}: ${noAccountId}`);
    if (accountId === undefined) return [];
    return [{ ...asked, account: withSource(account, { kind: 'nerdgraph', accountId }) }];
  });
  if (able.length === 0) throw new CommandError(2, notes.join('\n'));
  const types: EntityType[] = [];
  const golden: GoldenEntities[] = [];
  let isWhole = true;
  await withAccounts(able, platform, async (accounts) => {
    for (const open of accounts) {
      try {
        const found = await typesOf(open);
        types.push(...found);
        for (const one of found.filter((type) => typeName(type).toUpperCase() === wanted)) {
          golden.push({ ...one, metrics: await goldenMetricsOf(open, one) });
        }
      } catch (error) {
        platform.stopSignal.throwIfAborted();
        if (!(error instanceof ApiError)) throw error;
        isWhole = false;
        const account = `account ${printable(open.account.name)}`;
        notes.push(`${account}: not all entities are known: ${open.redacted(error.message)}`);
      }
    }
  });
  platform.stderr.write(notes.map((note) => `${note}\n`).join(''));
  return { types, golden, isWhole };
}

const typesDocument =
  'query EntityTypes($search: String!) { actor { entitySearch(query: $search) { types { domain type count } } } }';

/** Entities of one type may be measured in different ways: a few dozen of them tell which there are. */
const goldenDocument =
  'query GoldenMetrics($search: String!) { actor { entitySearch(query: $search, options: { limit: 50 }) { results { entities { goldenMetrics { metrics { name title unit definition { select from where facet eventId } } } } } } } }';

/** New Relic allows ten for a type. */
const mostMetrics = 100;

async function typesOf(open: OpenAccount): Promise<readonly EntityType[]> {
  const account = open.account.name;
  const all = await searched(open, typesDocument);
  return all
    .flatMap(({ domain, type, count }): readonly EntityType[] => {
      if (typeof domain !== 'string' || typeof type !== 'string') return [];
      return [{ account, domain, type, reporting: typeof count === 'number' ? count : 0 }];
    })
    .toSorted((left, right) => (typeName(left) < typeName(right) ? -1 : 1));
}

async function goldenMetricsOf(
  open: OpenAccount,
  { domain, type }: EntityType,
): Promise<readonly GoldenMetric[]> {
  const where = ` AND domain = ${nrqlText(domain)} AND type = ${nrqlText(type)}`;
  const entities = await searched(open, goldenDocument, where);
  const byText = new Map<string, GoldenMetric>();
  for (const { goldenMetrics } of entities) {
    const { metrics } = objectOf(goldenMetrics);
    for (const metric of Array.isArray(metrics) ? metrics.map(goldenMetricIn) : []) {
      byText.set(JSON.stringify(metric), metric);
    }
  }
  return [...byText.values()].slice(0, mostMetrics);
}

function goldenMetricIn(metric: unknown): GoldenMetric {
  const { definition, ...about } = objectOf(metric);
  const all: JsonObject = { ...objectOf(definition), ...about };
  const text = (key: keyof GoldenMetric): string => textIn(all[key]) ?? '';
  return {
    name: text('name'),
    title: text('title'),
    unit: text('unit'),
    select: text('select'),
    from: text('from'),
    where: text('where'),
    facet: text('facet'),
    eventId: text('eventId'),
  };
}

async function searched(
  open: OpenAccount,
  query: string,
  where = '',
): Promise<readonly JsonObject[]> {
  const { accountId } = open.account.source;
  const purpose = { operation: 'list_applications', accountId } as const;
  const search = `accountId = ${accountId} AND reporting = 'true'${where}`;
  const body = JSON.stringify({ query, variables: { search } });
  const { operation } = purpose;
  const request = { operation, target: '/graphql', body, answerSize: 'large' } as const;
  return askPart(open, purpose, request, ({ types, results }) => {
    const list = types ?? objectOf(results)['entities'];
    if (!Array.isArray(list)) throw notWhole(purpose, 'the answer has no list of entities');
    return list.filter(isJsonObject);
  });
}
