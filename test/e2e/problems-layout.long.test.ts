import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kindsOfProblems, type ProblemKind } from '../../src/model/problem-kinds.ts';
import type { AccountDetails, ProcessStatus } from '../../src/model/status.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { missingMetric } from '../publish/account-status.ts';
import { chromiumTool, startBrowser, violationsOn } from '../support/browser.ts';
import {
  anAccountDetails,
  anApplicationStatus,
  aProcessStatus,
  aQueryStatus,
  aStatusSource,
  inState,
  statusNowMs,
} from '../support/status-source.ts';

const refusal = 'list_applications: status 401, "The API key provided is invalid". Check the key.';
const refusals = {
  calls: 1234,
  sinceMs: statusNowMs - 600_000,
  lastMs: statusNowMs - 30_000,
  cause: 'key_limit',
} as const;
const gone = {
  location: 'file /etc/newrelic-exporter/keys/production/api-key',
  problem: 'no such file',
};
const times = { sinceMs: statusNowMs - 900_000, readMs: statusNowMs - 4_000_000 };

/** An account, or a process, that has the problem. */
const given: Readonly<
  Record<ProblemKind, { readonly account?: Partial<AccountDetails>; readonly process?: object }>
> = {
  config_broken: { process: { problem: 'config.yaml:5:5: unknown key "nmae"' } },
  config_file_broken: {
    process: { brokenFiles: [{ name: 'teams/a.yaml', problem: 'teams/a.yaml:5:5: unknown key' }] },
  },
  nothing_selected: { account: { applications: 0 } },
  key_refused: { account: { up: false, error: refusal, errorReason: 'auth' } },
  unreachable: { account: { up: false, error: 'the name cannot be resolved', errorReason: 'dns' } },
  list_failing: { account: { up: false, error: 'status 500', errorReason: 'server' } },
  unanswered: {
    account: { up: false, error: 'status 500', errorReason: 'server', hasApplications: false },
  },
  throttled: { account: { refusals, isReduced: true, backoffUntilMs: statusNowMs + 30_000 } },
  key_unreadable: { account: { key: { ...gone, ...times } } },
  entry_matches_nothing: { account: { missingSelectors: ['name=Checkout (staging)', 'id=7'] } },
  application_failing: { account: { failing: [anApplicationStatus(inState('failing'))] } },
  query_failing: { account: { queries: [aQueryStatus('shop_calls', 'failing')] } },
  application_dropped: { account: { failing: [anApplicationStatus(inState('dropped'))] } },
  query_dropped: { account: { queries: [aQueryStatus('shop_calls', 'dropped')] } },
  budget_too_small: { account: { stretch: 2.5, demandRequestsPerMinute: 2000 } },
  answers_slow: { account: { stretch: 2.5 } },
  metric_without_value: { account: { missingMetrics: [missingMetric] } },
  query_without_value: {
    account: { queries: [aQueryStatus('shop_calls', 'up', { missing: 'it has no rows' })] },
  },
  tag_without_value: { account: { missingTags: ['taem', 'environmnet'] } },
  series_dropped: { account: { leftOut: { duplicate: 12, max_series: 1_204, fault: 0 } } },
  clock_wrong: { account: { clockSkew: { ms: -3_600_000, isBelieved: true } } },
  key_shared: { account: { keySharedBy: ['production', 'europe'] } },
};

function sourceOf(kind: ProblemKind) {
  const { account = {}, process = {} } = given[kind];
  const usual: ProcessStatus = aProcessStatus();
  return aStatusSource({
    process: { ...usual, reload: { ...usual.reload, ...process } },
    accounts: [
      anAccountDetails(account),
      ...(kind === 'nothing_selected' ? [] : [anAccountDetails({ name: 'europe' })]),
    ],
    applications: [...(account.failing ?? [anApplicationStatus()])].map((one) =>
      anApplicationStatus(one),
    ),
  });
}

describe.skipIf(chromiumTool.path === undefined)('a page that says what is wrong', () => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => browser?.close());

  it.each(kindsOfProblems)('fits every screen, and is accessible to all: %s', async (kind) => {
    const html = statusPage(sourceOf(kind), new URLSearchParams(), { telemetryPath: '/metrics' });
    for (const width of [390, 1280, 1920]) {
      const page = await browser?.newPage({ viewport: { width, height: 900 } });
      await page?.setContent(html);

      expect(await page?.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await page?.locator('.banner.good').count()).toBe(0);
      const isAsked = page !== undefined && width === 1280;
      expect(isAsked ? await violationsOn(page) : []).toEqual([]);
      await page?.close();
    }
  });
});
