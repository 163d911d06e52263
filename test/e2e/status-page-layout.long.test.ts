import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApplicationState, ApplicationStatus, StatusSource } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import { applicationPage } from '../../src/web/status/application-page.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { chromiumTool, openPage, startBrowser } from '../support/browser.ts';
import {
  aFullReading,
  anAccountDetails,
  anApplicationStatus,
  aProcessStatus,
  aQueryStatus,
  aStatusSource,
  inState,
  manyApplications,
  statusNowMs,
} from '../support/status-source.ts';

/** Values of everything, and the longest texts that the columns of times can have. */
function wideOnes(
  count: number,
  state: ApplicationState,
  changes: Partial<ApplicationStatus> = {},
): readonly ApplicationStatus[] {
  return Array.from({ length: count }, (_, index) => {
    const { failure, ...others } = inState(state);
    const windowEndMs = statusNowMs - (1439 - index) * minuteMs;
    return anApplicationStatus({
      ...others,
      id: String(31_584_797 + index),
      name: `checkout-${index}`,
      lastPollMs: statusNowMs - 64_000 - index,
      nextPollMs: statusNowMs - 23 * 60 * minuteMs - 59 * minuteMs,
      reading: state === 'dropped' ? undefined : { ...aFullReading(), windowEndMs },
      failure: failure && { ...failure, sinceMs: failure.sinceMs - index },
      failedHostIds: new Set(state === 'up' ? [] : ['11', '12']),
      ...changes,
    });
  });
}

const refusal = 'list_applications: status 401, "The API key provided is invalid". Check the key.';
const refused = { reason: 'auth', message: refusal, sinceMs: statusNowMs - 90_000 } as const;
const paused = {
  ...refused,
  reason: 'throttled',
  message: 'The poll that was due waits.',
} as const;

function inOutage(failure: typeof refused | typeof paused, account: object): StatusSource {
  const queries = [aQueryStatus('shop_calls', 'failing', { failure })];
  const details = { state: 'down', queries, ...account } as const;
  return aStatusSource({
    accounts: [anAccountDetails(details)],
    applications: wideOnes(12, 'failing', { failure }),
  });
}

const wrongKey = inOutage(refused, { error: refusal, errorReason: 'auth' });
const long = '\u00c4Wm'.repeat(67);
const longNames = {
  account: long,
  name: long,
  selector: `match=${long}`,
  labels: { team: long },
  hostNames: new Map([['11', long]]),
};

const share = {
  requestsPerMinute: 300,
  sharedRequestsPerMinute: 900,
  budgetRequestsPerMinute: 296.5,
  requestsLastMinute: 296,
  demandRequestsPerMinute: 12_345,
  lastDiscoveryMs: statusNowMs - 23 * 60 * minuteMs - 59 * minuteMs,
};

const situations: readonly { readonly what: string; readonly source: StatusSource }[] = [
  { what: 'health', source: aStatusSource({ applications: wideOnes(12, 'up') }) },
  { what: 'a wrong key', source: wrongKey },
  {
    what: '429',
    source: inOutage(paused, { state: 'degraded', backoffUntilMs: statusNowMs + 41_000 }),
  },
  { what: 'values held', source: aStatusSource({ applications: wideOnes(3, 'failing') }) },
  { what: 'values dropped', source: aStatusSource({ applications: wideOnes(3, 'dropped') }) },
  {
    what: 'queries that fail',
    source: aStatusSource({
      accounts: [
        anAccountDetails({
          queries: [
            aQueryStatus('nr_route_duration_seconds', 'failing'),
            aQueryStatus('shop_errors_per_minute', 'dropped'),
            aQueryStatus('shop_calls'),
          ],
        }),
      ],
    }),
  },
  {
    what: 'shards, and a list that was never read',
    source: aStatusSource({
      process: aProcessStatus({ shard: { ordinal: 1, total: 3 } }),
      accounts: [
        anAccountDetails({ ...share, excludedApplications: 1234, firstCycleEnded: false }),
        anAccountDetails({
          ...share,
          name: 'unread',
          state: 'starting',
          applications: 0,
          listedApplications: undefined,
          demandRequestsPerMinute: undefined,
          lastDiscoveryMs: undefined,
          nextDiscoveryMs: undefined,
        }),
      ],
      applications: wideOnes(3, 'up'),
    }),
  },
  { what: '300 applications', source: aStatusSource({ applications: manyApplications(300) }) },
  {
    what: 'names of 200 characters',
    source: aStatusSource({
      accounts: [
        anAccountDetails({
          name: long,
          queries: [aQueryStatus(long, 'failing', { account: long })],
        }),
        anAccountDetails(),
      ],
      applications: [...wideOnes(2, 'failing', longNames), ...wideOnes(1, 'failing')],
    }),
  },
];

/** Cells and facts that are narrower than what they hold, and whatever can be moved sideways. */
const measure = `(() => {
  const tooWide = [];
  const wider = (one) => one.scrollWidth > one.clientWidth;
  const scrolled = [document.documentElement, ...document.querySelectorAll('.table')].filter(wider);
  for (const one of scrolled) tooWide.push(one.className + ' ' + one.scrollWidth + ' > ' + one.clientWidth);
  for (const cell of document.querySelectorAll('td, th, dd')) {
    const head = cell.closest('thead');
    if (head && getComputedStyle(head).position === 'absolute') continue;
    const { left, right } = cell.getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(cell);
    const text = range.getBoundingClientRect();
    const isOut = text.width > 0 && (text.left < left - 0.5 || text.right > right + 0.5);
    if (isOut || (right > left && wider(cell))) {
      tooWide.push(cell.className + ' ' + cell.textContent.slice(0, 60) + ' ' + text.width + ' > ' + (right - left));
    }
  }
  return { cells: document.querySelectorAll('td').length, tooWide };
})()`;

const heightOf = async (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollHeight');

const context = { telemetryPath: '/metrics' };

function pagesOf(source: StatusSource): readonly string[] {
  const [first = anApplicationStatus()] = source.applications();
  const params = new URLSearchParams({ account: first.account, id: first.id, host: '11' });
  return [
    statusPage(source, new URLSearchParams(), context),
    applicationPage(source, params, context) ?? '',
  ];
}

describe.skipIf(chromiumTool.skip)(`the layout of the status page${chromiumTool.note}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => browser.close());

  it.each(situations)('has room for everything in its cell: $what', async ({ source }) => {
    const { page } = await openPage(browser);
    for (const document of pagesOf(source)) {
      await page.setContent(document);
      for (const width of [390, 1280, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        const { cells, tooWide } = await page.evaluate<{ cells: number; tooWide: string[] }>(
          measure,
        );

        expect(cells).toBeGreaterThan(0);
        expect({ width, tooWide }).toEqual({ width, tooWide: [] });
      }
    }
  });

  it('takes two and a half screens of a phone at most for twelve applications of an account that is down', async () => {
    const { page } = await openPage(browser, { viewport: { width: 390, height: 844 } });
    await page.setContent(statusPage(wrongKey, new URLSearchParams(), context));

    expect(await heightOf(page)).toBeLessThan(2.5 * 844);
  });
});
