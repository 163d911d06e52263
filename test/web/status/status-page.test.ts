import { describe, expect, it } from 'vitest';
import type { StatusSource } from '../../../src/model/status.ts';
import type { PageContext } from '../../../src/web/status/document.ts';
import { statusPage } from '../../../src/web/status/status-page.ts';
import { missingMetric } from '../../publish/account-status.ts';
import { tagsOf, textOf } from '../../support/html-parts.ts';
import {
  anAccountDetails,
  anApplicationStatus,
  aProcessStatus,
  aQueryStatus,
  aStatusSource,
  inState,
  oneOfEachState,
  statusNowMs,
} from '../../support/status-source.ts';
import { statusPageOf } from './pages.ts';

const context: PageContext = {
  telemetryPath: '/metrics',
};

const refused = {
  configFile: 'config.yaml',
  includedFiles: [],
  brokenFiles: [],
  inForceSinceMs: statusNowMs - 3_600_000,
  lastAttemptMs: statusNowMs - 40_000,
  problem: 'config.yaml:5:5: unknown key "nmae"\n    5 |     nmae: shop\n      |     ^^^^',
};

/** Every kind of trouble at once. */
function aBadNight(): StatusSource {
  return aStatusSource({
    process: aProcessStatus({ reload: refused, shard: { ordinal: 1, total: 3 } }),
    applications: oneOfEachState(),
    accounts: [
      anAccountDetails({
        state: 'degraded',
        stateSinceMs: statusNowMs - 432_000,
        missingSelectors: ['id=123', 'name=Shop'],
        missingMetrics: [missingMetric],
        clockSkew: { ms: -75000, isBelieved: true },
        demandRequestsPerMinute: 1604,
        budgetRequestsPerMinute: 80,
        stretch: 2,
        isReduced: true,
        refusals: {
          calls: 17,
          sinceMs: statusNowMs - 600_000,
          lastMs: statusNowMs - 30_000,
          cause: 'key_limit' as const,
        },
        pollIntervalSeconds: 122,
        key: {
          location: 'file api-key',
          problem: 'no such file.',
          sinceMs: statusNowMs - 900_000,
          readMs: statusNowMs - 4_000_000,
        },
      }),
      anAccountDetails({
        name: 'europe',
        state: 'down',
        up: false,
        stateSinceMs: statusNowMs - 720_000,
        error: 'The key was refused (401).',
        errorReason: 'auth',
        applications: 0,
        hosts: 0,
        listedApplications: undefined,
        lastDiscoveryMs: undefined,
        requestsLastMinute: 1,
      }),
      anAccountDetails({
        name: 'new',
        state: 'starting',
        up: undefined,
        stateSinceMs: undefined,
        firstCycleEnded: false,
        applications: 0,
        hosts: 0,
        listedApplications: undefined,
        lastDiscoveryMs: undefined,
        nextDiscoveryMs: undefined,
        demandRequestsPerMinute: undefined,
      }),
      anAccountDetails({ name: 'paused', backoffUntilMs: statusNowMs + 41_000 }),
    ],
  });
}

describe('statusPage', () => {
  it.each([
    'degraded',
    '1 refused configuration, 1 API key refused, 2 accounts throttled, 1 API key cannot be read, 2 entries match nothing, 2 applications failing, 1 application without its values, 1 budget too small, 1 metric never has a value, 1 clock wrong.',
    '1 (0 to 2)',
    'Account throttled since 02:50:00 UTC (10 min ago): New Relic refused 17 calls, the last at 02:59:30 UTC; limit lowered from 800 to 80; intervals stretched 2.0 times. The limit of the key is used up: see who else uses it, or lower requests_per_minute.',
    '3 d 4 h',
    'refused 40 s ago',
    'It was refused: the previous one stays active. Last tried 02:59:20 UTC (40 s ago).',
    'config.yaml:5:5: unknown key "nmae"',
    '| ^^^^',
    'API key refused: The key was refused (401).',
    'down for 12 min',
    '1 of 800',
    'Account throttled: paused after a 429: no calls are sent until 03:00:41 UTC. See who else uses the key, or lower requests_per_minute.',
    '2 applications fail: see below',
    '2 entries match nothing: id=123, name=Shop',
    'API key cannot be read since 02:45:00 UTC (15 min ago): file api-key: no such file; the key that was read before stays in use. Put the key back in its place: a restart would fail.',
    'Budget too small: intervals stretched 2.0 times: 1,604 calls a minute needed, 80 allowed. Raise requests_per_minute if the key allows it, or poll less.',
    "Clock wrong: New Relic's clock is 1 min 15 s behind this machine's: windows follow New Relic's. Compare the clock of this machine with a time server.",
    "timeout since 02:38:00 UTC (22 min ago): GET /v2/applications/101/metrics/data.json answered 500: the problem is on New Relic's side. Wait, and see its status page.",
    'Its values were dropped at 02:53:00 UTC (7 min ago).',
    'Older values are held; they are dropped at 03:07:00 UTC (in 7 min) unless a poll succeeds.',
    'held 11 min ago',
    '0 of 2',
  ])('says on that night: %s', (text) => {
    expect(textOf(statusPageOf(aBadNight())).split('\n')).toContain(text);
  });

  it('never gives a number for what is not known', () => {
    const text = textOf(statusPageOf(aBadNight()));
    const unread = text.slice(text.indexOf('\neurope'), text.indexOf('\n1 of 800'));

    expect(unread).toBe('\neurope\n\u2013\n\u2013');

    expect(text).not.toMatch(/\b0 s\b|NaN|undefined|Infinity|1970/u);
  });

  it('has the state in the title and in the icon of the tab', () => {
    const bad = statusPageOf(aStatusSource({ applications: oneOfEachState() }));
    const good = statusPageOf(aStatusSource());

    expect(bad).toContain('<title>degraded: 2 applications failing, ');
    expect(good).toContain('<title>up: 1 application, all polls succeed. ');
    expect(bad).toContain('%23d93025');
    expect(good).not.toContain('%23d93025');
  });

  it('loads nothing but its script', () => {
    const tags = tagsOf(statusPageOf(aStatusSource()));
    const loaded = tags.filter(({ attributes }) => attributes['src'] !== undefined);

    expect(loaded.map(({ attributes }) => attributes['src'])).toEqual(['./status.js']);
    expect(tags.filter(({ attributes }) => attributes['style'] !== undefined)).toEqual([]);
    expect(tags.filter(({ name }) => ['img', 'iframe', 'object'].includes(name))).toEqual([]);
  });

  it('links to everything that the exporter serves, relative to itself', () => {
    const hrefs = tagsOf(
      statusPage(aStatusSource(), new URLSearchParams(), { ...context, telemetryPath: '/nr/m' }),
    ).map(({ attributes }) => attributes['href']);

    expect(hrefs).toEqual(
      expect.arrayContaining([
        './nr/m',
        './config',
        './api/v1/targets',
        './-/healthy',
        './-/ready',
        './applications?account=production&id=101',
      ]),
    );
    expect(hrefs.filter((href) => href?.startsWith('/') === true)).toEqual([]);
  });

  it('lists the first hundred of thousands of entries that match nothing', () => {
    const missingSelectors = Array.from({ length: 5000 }, (_, index) => `id=${index}`);
    const page = statusPageOf(
      aStatusSource({ accounts: [anAccountDetails({ missingSelectors })] }),
    );

    expect(textOf(page)).toContain('5,000 entries match nothing\nid=0, id=1, ');
    expect(textOf(page)).toContain(
      ', id=99 and 4,900 more; the metric newrelic_exporter_app_missing has the first thousand',
    );
  });

  it('says once why a whole account fails, what a shard has, and how many are excluded', () => {
    const message = 'GET /v2/applications.json answered 401: the key is refused.';
    const failure = { reason: 'auth', message, sinceMs: statusNowMs - 1000 } as const;
    const queries = [aQueryStatus('calls', 'dropped', { failure })];
    const sizes = {
      requestsPerMinute: 266,
      sharedRequestsPerMinute: 800,
      budgetRequestsPerMinute: 159,
      excludedApplications: 1234,
    };
    const accounts = [
      anAccountDetails({
        up: false,
        error: message,
        errorReason: 'auth',
        queries,
        ...sizes,
      }),
    ];
    const applications = ['1', '2'].map((id) =>
      anApplicationStatus({ ...inState('failing'), id, failure }),
    );
    const ill = anApplicationStatus({ ...inState('failing'), id: '3' });

    const text = textOf(
      statusPageOf(aStatusSource({ accounts, applications: [...applications, ill] })),
    );

    expect(text.split(message)).toHaveLength(2);
    expect(text).toContain(
      '2 applications and 1 query fail because of the account. Older values are held until 03:07:00 UTC (in 7 min), and then dropped unless a poll succeeds.\n1 application fails: see below',
    );
    expect(text.match(/dropped at|answered 500/gu)).toEqual(['answered 500', 'dropped at']);
    expect(text).toContain('of 316, 1,234 excluded');
    expect(text).toContain("of 159; this shard's share of 800 is 266");
  });

  it('says so while nothing is polled', () => {
    const text = textOf(statusPageOf(aStatusSource({ accounts: [], applications: [] })));

    expect(text).toContain('This process polls no account.');
    expect(text).toContain('No application is polled yet.');
  });
});

describe('metrics that never have a value', () => {
  it('are named, and are not well', () => {
    const text = textOf(
      statusPageOf(
        aStatusSource({ accounts: [anAccountDetails({ missingMetrics: [missingMetric] })] }),
      ),
    );

    expect(text).toContain('1 metric never has a value: queue_depth of match=^checkout (Custom/');
    expect(text).toContain('1 metric never has a value.');
  });

  it('are in a list that opens if there are many, which has the first hundred', () => {
    const missingMetrics = Array.from({ length: 5000 }, (_, index) => ({
      ...missingMetric,
      name: `metric_${index}`,
    }));
    const page = statusPageOf(aStatusSource({ accounts: [anAccountDetails({ missingMetrics })] }));

    expect(tagsOf(page).some(({ name }) => name === 'details')).toBe(true);
    expect(textOf(page)).toContain('5,000 metrics never have a value');
    expect(textOf(page)).toContain(
      ' and 4,900 more; the metric newrelic_exporter_metric_missing has the first thousand',
    );
    expect(textOf(page)).not.toContain('metric_100 ');
  });
});
