import { describe, expect, it } from 'vitest';
import { type ApplicationState, applicationStates } from '../../../src/model/status.ts';
import { targetsJson, targetsQueryOf } from '../../../src/web/status/targets-json.ts';
import { missingMetric } from '../../publish/account-status.ts';
import {
  aFullReading,
  anAccountDetails,
  anApplicationStatus,
  aProcessStatus,
  aQueryStatus,
  aReading,
  aStatusSource,
  aThroughput,
  inState,
  manyApplications,
  statusNowMs,
} from '../../support/status-source.ts';

interface Targets {
  readonly status: string;
  readonly data: {
    readonly activeTargets: readonly Readonly<Record<string, unknown>>[];
    readonly droppedTargets: readonly unknown[];
    readonly droppedTargetCounts: Readonly<Record<string, number | null>>;
    readonly accounts: readonly Readonly<Record<string, unknown>>[];
    readonly queries: readonly Readonly<Record<string, unknown>>[];
    readonly process: Readonly<Record<string, unknown>>;
  };
}

/** As a client gets it. */
function targets(source: Parameters<typeof targetsJson>[0], query = ''): Targets {
  const asked = targetsQueryOf(new URLSearchParams(query));
  if ('problem' in asked) throw new Error(asked.problem);
  return JSON.parse([...targetsJson(source, asked)].join('')) as Targets;
}

describe('targetsJson', () => {
  it('shows an application as Prometheus shows a target, with what we know beside', () => {
    const reading = aReading({ application: aThroughput(1204, 85.5) });
    const application = anApplicationStatus({ labels: { team: 'shop' }, reading });
    const { data, status } = targets(aStatusSource({ applications: [application] }));

    expect(status).toBe('success');
    expect(data.activeTargets).toEqual([
      {
        discoveredLabels: {
          __meta_newrelic_account: 'production',
          __meta_newrelic_app_id: '101',
          __meta_newrelic_app_name: 'checkout',
          __meta_newrelic_selector: 'match=^checkout',
        },
        labels: { account: 'production', app_id: '101', app_name: 'checkout', team: 'shop' },
        scrapePool: 'production',
        lastError: '',
        lastScrape: '2026-11-22T02:59:46.000Z',
        lastScrapeDuration: 0.8,
        health: 'up',
        scrapeInterval: '60s',
        state: 'up',
        reason: null,
        failingSince: null,
        isHeld: false,
        dropTime: null,
        lastSuccess: '2026-11-22T02:59:46.000Z',
        nextPoll: '2026-11-22T03:00:46.000Z',
        windowEnd: '2026-11-22T02:56:46.000Z',
        requestsPerMinute: { web: 1204, other: 85.5 },
        values: [
          {
            name: 'newrelic_application_requests_per_minute',
            labels: { transaction_type: 'web' },
            value: 1204,
          },
          {
            name: 'newrelic_application_requests_per_minute',
            labels: { transaction_type: 'other' },
            value: 85.5,
          },
        ],
        hosts: 2,
        failedHosts: [],
      },
    ]);
  });

  const healths: Readonly<Record<ApplicationState, string>> = {
    dropped: 'down',
    failing: 'down',
    gone: 'down',
    waiting: 'unknown',
    silent: 'up',
    up: 'up',
  };

  it.each(applicationStates.map((state) => ({ state, health: healths[state] })))(
    'calls an application that is $state $health, with the reason if it is down',
    ({ state, health }) => {
      const application = anApplicationStatus(inState(state));
      const { activeTargets } = targets(aStatusSource({ applications: [application] })).data;

      expect(activeTargets).toMatchObject([
        {
          state,
          health,
          lastError: application.failure?.message ?? '',
          reason: application.failure?.reason ?? null,
        },
      ]);
      expect((application.failure !== undefined) === (health === 'down')).toBe(true);
    },
  );

  it('says of an application that was never polled what Prometheus says', () => {
    const application = anApplicationStatus({ ...inState('waiting'), intervalSeconds: 61.3704 });
    const { activeTargets } = targets(aStatusSource({ applications: [application] })).data;

    expect(activeTargets).toMatchObject([
      {
        lastScrape: '0001-01-01T00:00:00Z',
        lastScrapeDuration: 0,
        lastSuccess: null,
        windowEnd: null,
        requestsPerMinute: {},
        values: [],
        scrapeInterval: '61370ms',
      },
    ]);
  });

  it('names the hosts that failed, and all hosts of an application that is asked for by id', () => {
    const failing = anApplicationStatus({ failedHostIds: new Set(['12']) });
    const source = aStatusSource({ applications: [failing, anApplicationStatus({ id: '102' })] });
    const all = targets(source).data.activeTargets;
    const one = targets(source, 'app_id=101').data.activeTargets;

    const failedHosts = [{ id: '12', name: 'checkout-7d9f-2' }];
    expect(all).toMatchObject([{ failedHosts }, { failedHosts: [] }]);
    expect(all.every((target) => !('hostDetails' in target))).toBe(true);
    expect(one).toMatchObject([
      {
        failedHosts,
        hostDetails: [
          {
            id: '11',
            name: 'checkout-7d9f-1',
            isFailed: false,
            requestsPerMinute: { web: 802, other: 40 },
          },
          { id: '12', isFailed: true, requestsPerMinute: { web: 402, other: 45.5 } },
        ],
      },
    ]);
  });

  it('lists every published value, of applications and of their hosts, under its own name', () => {
    const application = anApplicationStatus({ reading: aFullReading(), hostIds: ['11'] });
    const [target] = targets(aStatusSource({ applications: [application] }), 'app_id=101').data
      .activeTargets;

    expect(target).toMatchObject({
      requestsPerMinute: { web: 1204, other: 85.5 },
      values: expect.arrayContaining([
        { name: 'newrelic_application_apdex_score', labels: {}, value: 0.94 },
        { name: 'queue_depth', labels: { queue: 'mail' }, value: 12_500 },
      ]),
      hostDetails: [
        {
          id: '11',
          values: expect.arrayContaining([
            { name: 'newrelic_application_host_memory_used_bytes', labels: {}, value: 524_288_000 },
            { name: 'host_queue_depth', labels: { queue: 'mail' }, value: 12_500 },
          ]),
        },
      ],
    });
    const names = JSON.stringify(target?.['values']);
    expect(names).not.toContain('external_response_time');
    expect(names).not.toContain('only_hosts');
  });

  it('has the queries of the account that is asked for, those that fail first', () => {
    const queries = [aQueryStatus('orders', 'up'), aQueryStatus('carts', 'failing')];
    const mails = aQueryStatus('mails', 'up', { account: 'other' });
    const source = aStatusSource({
      accounts: [
        anAccountDetails({ queries }),
        anAccountDetails({ name: 'other', queries: [mails] }),
      ],
    });

    expect(targets(source).data.queries.map(({ query }) => query)).toEqual([
      'carts',
      'mails',
      'orders',
    ]);
    expect(targets(source, 'scrapePool=production').data.queries).toMatchObject([
      { query: 'carts', health: 'down', reason: 'server', rows: 3, callsPerMinute: 1 },
      { query: 'orders', health: 'up', series: 1, leftOut: 2, missing: null },
    ]);
  });

  it('names at most a thousand metrics that never have a value', () => {
    const missingMetrics = Array.from({ length: 1500 }, () => missingMetric);
    const source = aStatusSource({ accounts: [anAccountDetails({ missingMetrics })] });

    expect(targets(source).data.accounts[0]?.['missingMetrics']).toHaveLength(1000);
  });

  it('has accounts and process in full', () => {
    const account = anAccountDetails({
      missingSelectors: ['id=7'],
      missingMetrics: [missingMetric],
      backoffUntilMs: statusNowMs,
      stretch: 1.4,
      refusals: { calls: 3, sinceMs: 0, lastMs: statusNowMs, cause: 'key_limit' as const },
    });
    const { accounts, process, droppedTargetCounts } = targets(
      aStatusSource({ accounts: [account], process: aProcessStatus() }),
    ).data;

    expect(accounts).toEqual([
      {
        name: 'production',
        state: 'degraded',
        stateSince: '2026-11-18T23:00:00.000Z',
        lastError: '',
        source: 'rest',
        applications: 3,
        polledApplications: 3,
        listedApplications: 316,
        excludedApplications: 0,
        failingApplications: 0,
        hosts: 12,
        missing: ['id=7'],
        missingMetrics: [missingMetric],
        requestsLastMinute: 312,
        requestsInFlight: 2,
        budgetRequestsPerMinute: 800,
        demandRequestsPerMinute: 324.4,
        pollIntervalSeconds: 60,
        configuredIntervalSeconds: 60,
        stretch: 1.4,
        requestsPerMinute: 800,
        sharedRequestsPerMinute: 800,
        refusedRequests: 3,
        lastRefusal: '2026-11-22T03:00:00.000Z',
        slowdowns: [
          'New Relic refused 3 calls, the last at 03:00:00 UTC; paused after a 429: no calls are sent until 03:00:00 UTC; intervals stretched 1.4 times',
        ],
        problems: [
          { kind: 'throttled', tone: 'amber', since: '1970-01-01T00:00:00.000Z' },
          { kind: 'entry_matches_nothing', tone: 'red', subject: { selector: 'id=7' } },
          { kind: 'metric_without_value', tone: 'amber', subject: missingMetric },
        ].map((one) => expect.objectContaining(one) as unknown),
        pausedUntil: '2026-11-22T03:00:00.000Z',
        clockSkewSeconds: null,
        lastDiscovery: '2026-11-22T02:59:39.000Z',
        nextDiscovery: '2026-11-22T03:00:39.000Z',
        key: {
          location: 'file /etc/newrelic-exporter/api-key',
          problem: null,
          since: '2026-11-18T23:00:00.000Z',
          readTime: '2026-11-18T23:00:00.000Z',
        },
      },
    ]);
    expect(process).toEqual({
      now: '2026-11-22T03:00:00.000Z',
      started: '2026-11-18T23:00:00.000Z',
      version: '1.2.3',
      revision: 'abc1234',
      nodeVersion: 'v24.0.0',
      shard: 0,
      problems: [],
      totalShards: 1,
      config: {
        file: '/etc/newrelic-exporter/config.yaml',
        includedFiles: [],
        brokenFiles: [],
        inForceSince: '2026-11-21T22:00:00.000Z',
        lastAttempt: '2026-11-21T22:00:00.000Z',
        problem: null,
      },
    });
    expect(droppedTargetCounts).toEqual({ production: 313 });
  });

  it.each([
    { what: 'was never read', parts: {}, numbers: [null, null, null] },
    { what: 'has come in part', parts: { applications: 2, hosts: 4 }, numbers: [2, 4, null] },
    { what: 'is empty', parts: { listedApplications: 0 }, numbers: [0, 0, 0] },
    { what: 'is asked for by nobody', parts: { hasApplications: false }, numbers: [0, 0, null] },
  ])('gives no number for what is not known, when a list $what', ({ parts, numbers }) => {
    const none = { applications: 0, hosts: 0, listedApplications: undefined };
    const account = anAccountDetails({ ...none, ...parts });
    const { data } = targets(aStatusSource({ accounts: [account], applications: [] }));
    const [{ applications, hosts } = {}] = data.accounts;

    expect([applications, hosts, data.droppedTargetCounts['production']]).toEqual(numbers);
  });

  it.each([
    { query: '', ids: ['1', '2', '3'] },
    { query: 'state=any', ids: ['1', '2', '3'] },
    { query: 'state=ACTIVE&unknown=1', ids: ['1', '2', '3'] },
    { query: 'state=dropped', ids: [] },
    { query: 'scrapePool=staging', ids: ['3'] },
    { query: 'scrapePool=', ids: ['1', '2', '3'] },
    { query: 'scrapePool=prod', ids: [] },
    { query: 'scrapePool=production&app_id=2', ids: ['2'] },
  ])('asked with "$query" shows $ids', ({ query, ids }) => {
    const applications = [
      anApplicationStatus({ id: '1' }),
      anApplicationStatus({ id: '2' }),
      anApplicationStatus({ id: '3', account: 'staging' }),
    ];
    const { data } = targets(aStatusSource({ applications }), query);

    expect(data.activeTargets.map(({ labels }) => (labels as { app_id: string }).app_id)).toEqual(
      ids,
    );
    expect(data.accounts).toHaveLength(1);
    expect(data.droppedTargets).toEqual([]);
  });

  it('does not guess what an unknown state means', () => {
    expect(targetsQueryOf(new URLSearchParams('state=up'))).toEqual({
      problem: 'the parameter "state" must be any, active or dropped',
    });
  });

  it('comes in parts that take a few milliseconds each, however many applications there are', () => {
    const applications = manyApplications(1001);
    const asked = { state: 'any', scrapePool: undefined, applicationId: undefined } as const;
    const parts = [...targetsJson(aStatusSource({ applications }), asked)];

    expect(parts).toHaveLength(7);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(300_000);
    expect(parts.at(-1)).toMatch(/\n$/u);
  });

  it('survives times that no calendar has', () => {
    const application = anApplicationStatus({ nextPollMs: Infinity, dropMs: 1e300 });
    const { activeTargets } = targets(aStatusSource({ applications: [application] })).data;

    expect(activeTargets).toMatchObject([{ nextPoll: null, dropTime: null }]);
  });
});
