import { parse } from 'graphql/language/parser.js';
import type { GraphQLSchema } from 'graphql/type/schema.js';
import { buildASTSchema } from 'graphql/utilities/buildASTSchema.js';

/** What all entities have. */
const entityFields = `
  accountId: Int
  alertSeverity: EntityAlertSeverity
  goldenMetrics: EntityGoldenContextScopedGoldenMetrics
  guid: EntityGuid
  name: String
  reporting: Boolean
  tags: [EntityTag]
`;

/**
 * The part of the vendor's schema that the exporter uses, and what the documents of the vendor's own client
 * cannot do without. Types and members are those of the vendor's Go client (2.97.7) and of its documentation;
 * whatever is left out here is unknown.
 */
const schemaText = `
scalar EntityGuid scalar EpochMilliseconds scalar Nrql scalar NrdbResult scalar Seconds

schema { query: RootQueryType }

type RootQueryType { actor: Actor }

type Actor {
  account(id: Int!): Account
  accounts(scope: RegionScope): [AccountOutline]
  entitySearch(
    options: EntitySearchOptions
    query: String
    queryBuilder: EntitySearchQueryBuilder
    sortBy: [EntitySearchSortCriteria]
    sortByWithDirection: [SortCriterionWithDirection]
  ): EntitySearch
}

type AccountOutline { id: Int name: String }
type Account {
  id: Int
  name: String
  nrql(async: Boolean, query: Nrql!, timeout: Seconds): NrdbResultContainer
}

type NrdbResultContainer {
  metadata: NrdbMetadata
  otherResult: NrdbResult
  results: [NrdbResult]
  totalResult: NrdbResult
}
type NrdbMetadata {
  facets: [String]
  messages: [String]
  timeWindow: NrdbMetadataTimeWindow
}
type NrdbMetadataTimeWindow {
  begin: EpochMilliseconds
  end: EpochMilliseconds
}

input EntitySearchOptions { caseSensitiveTagMatching: Boolean limit: Int }
input EntitySearchQueryBuilder {
  domain: EntitySearchQueryBuilderDomain
  type: EntitySearchQueryBuilderType
}
enum EntitySearchQueryBuilderDomain { APM }
enum EntitySearchQueryBuilderType { APPLICATION }
enum EntitySearchSortCriteria { NAME }
enum RegionScope { GLOBAL IN_REGION }
enum SortBy { ASC }
enum EntityAlertSeverity { CRITICAL NOT_ALERTING NOT_CONFIGURED WARNING }
input SortCriterionWithDirection { attribute: EntitySearchSortCriteria direction: SortBy }

type EntitySearch {
  count: Int
  results(cursor: String): EntitySearchResult
  types: [EntitySearchTypes]
}
type EntitySearchTypes { count: Int domain: String type: String }
type EntitySearchResult { entities: [EntityOutline] nextCursor: String }
type EntityTag { key: String values: [String] }

type EntityGoldenContextScopedGoldenMetrics { metrics: [EntityGoldenMetric] }
type EntityGoldenMetric {
  definition: EntityGoldenMetricDefinition
  name: String
  title: String
  unit: EntityGoldenMetricUnit
}
type EntityGoldenMetricDefinition {
  eventId: String
  facet: String
  from: String
  select: String
  where: String
}
enum EntityGoldenMetricUnit {
  BYTES_PER_SECOND COUNT MS PAGES_PER_SECOND PERCENTAGE REQUESTS_PER_MINUTE SECONDS
}

interface EntityOutline { ${entityFields} }
type ApmApplicationEntityOutline implements EntityOutline {
  ${entityFields}
  apmSummary: ApmApplicationSummaryData
  applicationId: Int
  language: String
  settings: ApmApplicationSettings
}
type GenericEntityOutline implements EntityOutline { ${entityFields} }
type ApmApplicationSettings { apdexTarget: Float }
type ApmApplicationSummaryData {
  apdexScore: Float
  errorRate: Float
  hostCount: Int
  instanceCount: Int
  responseTimeAverage: Seconds
  throughput: Float
}
`;

/** What a client may ask NerdGraph for. */
export const nerdgraphSchema: GraphQLSchema = buildASTSchema(parse(schemaText));
