import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount } from './nerdgraph-account.ts';

const fields = `guid name accountId domain type entityType reporting alertSeverity
  account { id name } tags { key values }`;
const apm = `applicationId language runningAgentVersions { minVersion maxVersion }
  settings { apdexTarget serverSideConfig }
  apmSummary { throughput webThroughput nonWebThroughput responseTimeAverage errorRate apdexScore hostCount instanceCount }`;
const searchDocument = `{ actor { entitySearch(query: "domain = 'APM'") { results { entities { __typename ${fields} ... on AlertableEntityOutline { reporting } ... on ApmApplicationEntityOutline { ${apm} } } } } } }`;
const guid = Buffer.from('1234567|APM|APPLICATION|100').toString('base64').replaceAll('=', '');

function shop(kind: 'both' | 'not_reporting'): ReturnType<typeof aNerdgraphAccount> {
  return aNerdgraphAccount({
    traffic: 'flat',
    applications: [
      {
        id: 100,
        name: 'shop',
        kind,
        language: 'go',
        healthStatus: 'red',
        webRpm: 120,
        otherRpm: 40,
        hosts: [{ instances: 2 }, { instances: 3 }],
      },
    ],
  });
}

const common = {
  guid,
  name: 'shop',
  accountId: 1_234_567,
  domain: 'APM',
  type: 'APPLICATION',
  entityType: 'APM_APPLICATION_ENTITY',
  account: { id: 1_234_567, name: 'Simulated account' },
  tags: [
    { key: 'account', values: ['Simulated account'] },
    { key: 'accountId', values: ['1234567'] },
    { key: 'language', values: ['go'] },
    { key: 'nr_apm_application_id', values: ['100'] },
  ],
  applicationId: 100,
  language: 'go',
  alertSeverity: 'CRITICAL',
  runningAgentVersions: { minVersion: '8.9.0', maxVersion: '8.10.0' },
  settings: { apdexTarget: 0.5, serverSideConfig: true },
};

describe('an application as an entity', () => {
  it('has a summary of both kinds of transactions, in seconds', () => {
    const { ask, fleet } = shop('both');
    const responseTimeMs = fleet.application(100)?.responseTimeMs ?? 0;

    expect(ask(searchDocument)).toEqual({
      data: {
        actor: {
          entitySearch: {
            results: {
              entities: [
                {
                  ...common,
                  __typename: 'ApmApplicationEntityOutline',
                  reporting: true,
                  apmSummary: {
                    throughput: 160,
                    webThroughput: 120,
                    nonWebThroughput: 40,
                    responseTimeAverage: responseTimeMs / 1000,
                    errorRate: 0,
                    apdexScore: Math.max(0.3, 1 - responseTimeMs / 4000),
                    hostCount: 2,
                    instanceCount: 5,
                  },
                },
              ],
            },
          },
        },
      },
    });
  });

  it('has no summary while it does not report', () => {
    const answer = shop('not_reporting').ask(searchDocument);

    expect(answer).toMatchObject({
      data: {
        actor: {
          entitySearch: {
            results: { entities: [{ ...common, reporting: false, apmSummary: null }] },
          },
        },
      },
    });
  });

  it('can be asked for by its guid, as another type', () => {
    const { ask } = shop('both');

    const answer = ask(
      `query ($guid: EntityGuid!) { actor {
        entity(guid: $guid) { __typename ${fields} ...Apm }
        none: entity(guid: "x") { name }
        entities(guids: ["x", $guid]) { name }
      } } fragment Apm on ApmApplicationEntity { ${apm} }`,
      { guid },
    );

    expect(answer).toMatchObject({
      data: {
        actor: {
          entity: { ...common, __typename: 'ApmApplicationEntity' },
          none: null,
          entities: [{ name: 'shop' }],
        },
      },
    });
  });

  it.each([
    { healthStatus: 'green', alertSeverity: 'NOT_ALERTING' },
    { healthStatus: 'orange', alertSeverity: 'WARNING' },
    { healthStatus: 'red', alertSeverity: 'CRITICAL' },
    { healthStatus: 'unknown', alertSeverity: 'NOT_CONFIGURED' },
  ])('is $alertSeverity where REST says $healthStatus', ({ healthStatus, alertSeverity }) => {
    const { ask } = aNerdgraphAccount({ applications: [{ healthStatus }] });

    expect(ask(searchDocument)).toMatchObject({
      data: { actor: { entitySearch: { results: { entities: [{ alertSeverity }] } } } },
    });
  });
});
