import { parse } from 'graphql/language/parser.js';
import type { GraphQLSchema } from 'graphql/type/schema.js';
import { buildASTSchema } from 'graphql/utilities/buildASTSchema.js';

/** What an entity and its outline have in common. */
const entityFields = `
  account: AccountOutline
  accountId: Int
  alertSeverity: EntityAlertSeverity
  domain: String
  entityType: String
  guid: EntityGuid
  name: String
  permalink: String
  reporting: Boolean
  tags: [EntityTag]
  type: String
`;

/** What those of APM have beside. */
const applicationFields = `
  apmSummary: ApmApplicationSummaryData
  applicationId: Int
  language: String
  runningAgentVersions: ApmApplicationRunningAgentVersions
  settings: ApmApplicationSettings
`;

/**
 * The part of the vendor's schema that the exporter uses, and a little more. Types and members are those
 * of the vendor's Go client (2.97.7) and of its documentation; whatever is left out here is unknown.
 */
const schemaText = `
scalar EntityGuid scalar EpochMilliseconds scalar Nrql scalar NrdbResult scalar Seconds

schema { query: RootQueryType }

type RootQueryType { actor: Actor }

type Actor {
  account(id: Int!): Account
  accounts(scope: RegionScope): [AccountOutline]
  entity(guid: EntityGuid!): Entity
  entities(guids: [EntityGuid]!): [Entity]
  entitySearch(
    options: EntitySearchOptions
    query: String
    queryBuilder: EntitySearchQueryBuilder
    sortBy: [EntitySearchSortCriteria]
    sortByWithDirection: [SortCriterionWithDirection]
  ): EntitySearch
  nrql(accounts: [Int!]!, async: Boolean, query: Nrql!, timeout: Seconds): NrdbResultContainer
  user: User
}

type User { email: String id: Int name: String }
type AccountOutline { id: Int name: String }
type Account {
  id: Int
  name: String
  nrql(async: Boolean, query: Nrql!, timeout: Seconds): NrdbResultContainer
}

type NrdbResultContainer {
  currentResults: [NrdbResult]
  metadata: NrdbMetadata
  nrql: Nrql
  otherResult: NrdbResult
  previousResults: [NrdbResult]
  queryProgress: NrdbQueryProgress
  results: [NrdbResult]
  totalResult: NrdbResult
}
type NrdbQueryProgress {
  completed: Boolean
  queryId: ID
  resultExpiration: Seconds
  retryAfter: Seconds
  retryDeadline: Seconds
}
type NrdbMetadata {
  eventTypes: [String]
  facets: [String]
  messages: [String]
  timeWindow: NrdbMetadataTimeWindow
}
type NrdbMetadataTimeWindow {
  begin: EpochMilliseconds
  compareWith: String
  end: EpochMilliseconds
  since: String
  until: String
}

input EntitySearchOptions { caseSensitiveTagMatching: Boolean limit: Int }
input EntitySearchQueryBuilder {
  alertSeverity: EntityAlertSeverity
  domain: EntitySearchQueryBuilderDomain
  name: String
  reporting: Boolean
  type: EntitySearchQueryBuilderType
}
enum EntitySearchQueryBuilderDomain { APM BROWSER EXT INFRA MOBILE SYNTH }
enum EntitySearchQueryBuilderType { APPLICATION HOST MONITOR SERVICE }
enum EntitySearchSortCriteria { ALERT_SEVERITY DOMAIN MOST_RELEVANT NAME REPORTING TYPE }
enum RegionScope { GLOBAL IN_REGION }
enum SortBy { ASC DESC }
enum EntityAlertSeverity { CRITICAL NOT_ALERTING NOT_CONFIGURED WARNING }
input SortCriterionWithDirection { attribute: EntitySearchSortCriteria direction: SortBy }

type EntitySearch { count: Int query: String results(cursor: String): EntitySearchResult }
type EntitySearchResult { entities: [EntityOutline] nextCursor: String }
type EntityTag { key: String values: [String] }

interface AlertableEntityOutline { alertSeverity: EntityAlertSeverity reporting: Boolean }
interface EntityOutline { ${entityFields} }
type ApmApplicationEntityOutline implements EntityOutline & AlertableEntityOutline {
  ${entityFields}
  ${applicationFields}
}
interface AlertableEntity { alertSeverity: EntityAlertSeverity reporting: Boolean }
interface Entity { ${entityFields} }
type ApmApplicationEntity implements Entity & AlertableEntity {
  ${entityFields}
  ${applicationFields}
}

type ApmApplicationRunningAgentVersions { maxVersion: String minVersion: String }
type ApmApplicationSettings { apdexTarget: Float serverSideConfig: Boolean }
type ApmApplicationSummaryData {
  apdexScore: Float
  errorRate: Float
  hostCount: Int
  instanceCount: Int
  nonWebResponseTimeAverage: Seconds
  nonWebThroughput: Float
  responseTimeAverage: Seconds
  throughput: Float
  webResponseTimeAverage: Seconds
  webThroughput: Float
}
`;

/** What a client may ask NerdGraph for. */
export const nerdgraphSchema: GraphQLSchema = buildASTSchema(parse(schemaText));
