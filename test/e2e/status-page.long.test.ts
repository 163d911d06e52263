import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { StatusSource } from '../../src/model/status.ts';
import {
  chromiumTool,
  openPage,
  startBrowser,
  violationsOn,
  type WatchedPage,
} from '../support/browser.ts';
import { type StatusServer, startStatusServer } from '../support/status-server.ts';
import {
  aFullReading,
  anAccountDetails,
  anApplicationStatus,
  aProcessStatus,
  aStatusSource,
  inState,
  manyApplications,
  oneOfEachState,
  statusNowMs,
} from '../support/status-source.ts';

/** `--bad` of the two themes. */
const red = { light: 'rgb(179, 38, 30)', dark: 'rgb(255, 157, 148)' };

const problem = 'config.yaml:5:5: unknown key "nmae"\n    5 |     nmae: shop\n      |     ^^^^';

/** Every fault at once, in two accounts. */
function aBadNight(): StatusSource {
  const { reload } = aProcessStatus();
  return aStatusSource({
    process: aProcessStatus({ reload: { ...reload, problem } }),
    applications: oneOfEachState(),
    accounts: [
      anAccountDetails({
        state: 'degraded',
        missingSelectors: ['id=123', 'name=Shop'],
        clockSkew: { ms: 75000, isBelieved: true },
        demandRequestsPerMinute: 1604,
        backoffUntilMs: statusNowMs + 41_000,
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
        error: 'The key was refused (401).',
        applications: 0,
      }),
    ],
  });
}

const colourOf = (one: Element): string =>
  one.ownerDocument.defaultView.getComputedStyle(one).color;

const hostileName =
  '<script>alert(1)</script><img src=x onerror=alert(2)> \u202egnp.exe \u001b[31m';

function aHostilePlace(): StatusSource {
  return aStatusSource({
    accounts: [anAccountDetails({ name: hostileName }), anAccountDetails()],
    applications: [
      anApplicationStatus({ id: '1', name: hostileName, account: hostileName }),
      anApplicationStatus({ ...inState('failing'), id: '2', name: 'x'.repeat(10_240) }),
      anApplicationStatus({ id: '3', name: 'שלום עולם' }),
    ],
  });
}

/** Everything that can be asked for, of forty hosts. */
function aFullHouse(): StatusSource {
  const hostIds = Array.from({ length: 40 }, (_, index) => String(11 + index));
  const hostNames = new Map(hostIds.map((id) => [id, `checkout-7d9f-${id}.eu-central.internal`]));
  const reading = aFullReading(hostIds);
  return aStatusSource({ applications: [anApplicationStatus({ hostIds, hostNames, reading })] });
}
const ofHost = '/applications?account=production&id=101&host=12';

describe.skipIf(chromiumTool.skip)(`the status page in a browser${chromiumTool.note}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => browser.close());

  async function served(source: StatusSource): Promise<StatusServer> {
    const server = await startStatusServer(source);
    onTestFinished(async () => server.close());
    return server;
  }

  /** Opens a path of a source; the page must have stayed without trouble when the test ends. */
  async function opened(
    source: StatusSource,
    path = '/',
    options: Parameters<typeof openPage>[1] = {},
  ): Promise<WatchedPage & { readonly server: StatusServer }> {
    const server = await served(source);
    const watched = await openPage(browser, options);
    await watched.page.goto(server.url + path);
    return { ...watched, server };
  }

  const namesOn = async (page: Page): Promise<readonly string[]> => {
    // A click waits for the address to change, not for the page.
    await page.waitForLoadState();
    return page.locator('.applications tbody th').allInnerTexts();
  };

  it.each([
    { what: 'the state of the whole', text: 'degraded', within: '.banner' },
    { what: 'an account that is down', text: 'down', within: '.accounts' },
    { what: 'why it is down', text: 'The key was refused (401).', within: '.accounts' },
    { what: 'a degraded account', text: 'degraded', within: '.accounts' },
    { what: 'a key that cannot be read', text: 'no such file', within: '.accounts' },
    { what: 'entries that match nothing', text: '2 entries match nothing', within: '.accounts' },
    { what: 'a failing application', text: 'failing', within: '.applications' },
    { what: 'why it fails', text: 'answered 500', within: '.applications' },
    { what: 'an application without values', text: 'dropped', within: '.applications' },
    { what: 'a refused reload', text: 'refused', within: '.facts' },
    { what: 'an error of the configuration', text: 'has an error', within: '.problem' },
  ])('shows $what in red, and in words', async ({ text, within }) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await opened(aBadNight(), '/', { colorScheme });
      const element = page.locator(`${within} .bad`, { hasText: text }).last();

      expect(await element.innerText()).toContain(text);
      expect(await element.evaluate(colourOf)).toBe(red[colorScheme]);
    }
  });

  it('has a shape beside each colour', async () => {
    const { page } = await opened(aBadNight());
    const shapes = await page.locator('.applications .state').evaluateAll((states) =>
      states.map((one) => {
        const { defaultView } = one.ownerDocument;
        const { clipPath, borderRadius, height, borderStyle } = defaultView.getComputedStyle(
          one,
          '::before',
        );
        return `${one.className}: ${clipPath.slice(0, 7)} ${borderRadius} ${height} ${borderStyle}`;
      }),
    );

    const byClass = new Map(shapes.map((shape) => shape.split(': ') as [string, string]));
    expect(new Set(byClass.values()).size).toBe(byClass.size);
    expect([...byClass.keys()].toSorted()).toEqual([
      'state bad',
      'state good',
      'state none',
      'state wait',
    ]);
  });

  it('is filtered, searched and sorted by clicking', async () => {
    const source = aStatusSource({ applications: manyApplications(2000) });
    const { page, troubles } = await opened(source);

    await page.getByRole('link', { name: 'failing 40' }).click();
    expect(new URL(page.url()).search).toBe('?state=failing');
    expect(await namesOn(page)).toHaveLength(40);

    await page.getByLabel('Search').fill('payments');
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(new URL(page.url()).search).toBe('?state=failing&q=payments');
    const found = await namesOn(page);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((name) => !name.startsWith('payments'))).toEqual([]);

    await page.getByRole('link', { name: 'Application', exact: true }).click();
    const header = page.getByRole('columnheader', { name: 'Application', exact: true });
    expect(await header.getAttribute('aria-sort')).toBe('ascending');
    expect(await namesOn(page)).toEqual(found.toSorted());
    await page.getByRole('link', { name: 'Application', exact: true }).click();
    expect(await header.getAttribute('aria-sort')).toBe('descending');
    expect(await namesOn(page)).toEqual(found.toSorted().toReversed());

    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    expect(await page.locator('.pager span').first().innerText()).toBe('101 to 200 of 2,000');
    expect(troubles).toEqual([]);
  });

  it('leads to the page of an application, its hosts, and back', async () => {
    const { page, troubles } = await opened(aHostilePlace(), '/?q=alert');

    await page.locator('.applications tbody th a').first().click();
    expect(await page.locator('h1').innerText()).toContain('<script>alert(1)</script>');
    await page.getByRole('link', { name: 'Web' }).click();
    await page.getByRole('link', { name: 'Web' }).click();
    expect(await page.locator('.hosts tbody th').allInnerTexts()).toEqual([
      'checkout-7d9f-2',
      'checkout-7d9f-1',
    ]);
    await page.getByRole('link', { name: 'All applications' }).click();
    expect(await namesOn(page)).toHaveLength(3);
    expect(troubles).toEqual([]);
  });

  it('leads from a host to all of its values, and back', async () => {
    const { page, troubles } = await opened(aFullHouse(), '/?q=checkout');

    await page.locator('.applications tbody th a').first().click();
    expect(await page.getByLabel('Values of the application').innerText()).toContain('123 ms');
    await page.getByRole('link', { name: 'checkout-7d9f-12' }).click();
    const values = page.getByLabel('Values of the host', { exact: true });
    expect(await values.innerText()).toContain('newrelic_application_host_memory_used_bytes');
    expect(await values.innerText()).toContain('500 MiB');
    await page.getByRole('link', { name: 'Close' }).click();
    expect(await values.count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('runs nothing that a name says, and shows all of it', async () => {
    const { page, troubles } = await opened(aHostilePlace());

    expect(await page.locator('script').count()).toBe(1);
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.locator('main').innerText()).toContain('⟨U+202E⟩gnp.exe ⟨U+001B⟩[31m');
    expect(troubles).toEqual([]);
  });

  it.each([
    { what: 'a bad night', source: aBadNight(), path: '/' },
    { what: 'hostile names', source: aHostilePlace(), path: '/' },
    {
      what: 'an application with a long name',
      source: aHostilePlace(),
      path: '/applications?account=production&id=2',
    },
    { what: 'many', source: aStatusSource({ applications: manyApplications(200) }), path: '/' },
    { what: 'every value of a host', source: aFullHouse(), path: ofHost },
    { what: 'the configuration', source: aBadNight(), path: '/config' },
  ])('fits a phone: $what', async ({ source, path }) => {
    const { page } = await opened(source, path, { viewport: { width: 390, height: 844 } });

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  it('shows what fails, and why, on the first screen of a phone', async () => {
    const account = anAccountDetails({
      state: 'degraded',
      missingSelectors: ['name=Checkout (staging)'],
      budgetRequestsPerMinute: 400,
      isReduced: true,
      refusals: {
        calls: 8,
        sinceMs: statusNowMs,
        lastMs: statusNowMs,
        cause: 'key_limit' as const,
      },
    });
    const applications = oneOfEachState().filter(({ state }) => state !== 'dropped');
    const source = aStatusSource({ accounts: [account], applications });
    const viewport = { width: 390, height: 844 };
    const { page } = await opened(source, '/', { viewport });
    const box = await page.locator('.applications .why p').first().boundingBox();

    expect(box?.y ?? Number.POSITIVE_INFINITY).toBeLessThan(viewport.height);
  });

  it('needs no mouse', async () => {
    const { page } = await opened(aStatusSource({ applications: manyApplications(300) }));
    const focused = async (): Promise<string> =>
      page.evaluate('document.activeElement.textContent');

    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    expect((await page.locator('.skip').boundingBox())?.x).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');

    const outlines: string[] = [];
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press('Tab');
      const [tag, outline] = await page.evaluate<readonly [string, string]>(
        '[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]',
      );
      outlines.push(outline);
      if (tag === 'INPUT') break;
    }
    expect(new Set(outlines)).toEqual(new Set(['solid']));
    await page.keyboard.type('search-eu');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=search-eu/u);
    expect((await namesOn(page)).every((name) => name.startsWith('search-eu'))).toBe(true);
  });

  it('works without JavaScript', async () => {
    const { page } = await opened(aBadNight(), '/', { javaScriptEnabled: false });

    expect(await page.locator('#refresh').innerText()).toBe('Refresh');
    await page.getByRole('link', { name: 'Application', exact: true }).click();
    expect(page.url()).toContain('sort=name');
  });

  it.each([
    { what: 'a bad night', source: aBadNight(), path: '/' },
    { what: 'hostile names', source: aHostilePlace(), path: '/' },
    {
      what: 'many',
      source: aStatusSource({ applications: manyApplications(450) }),
      path: '/?page=2',
    },
    { what: 'no match', source: aBadNight(), path: '/?q=nothing' },
    { what: 'nothing yet', source: aStatusSource({ accounts: [], applications: [] }), path: '/' },
    {
      what: 'an application',
      source: aBadNight(),
      path: '/applications?account=production&id=102',
    },
    { what: 'an unknown application', source: aBadNight(), path: '/applications?account=a&id=1' },
    { what: 'every value of a host', source: aFullHouse(), path: ofHost },
    { what: 'the configuration', source: aBadNight(), path: '/config' },
  ])('is accessible to all, says axe-core of $what', async ({ source, path }) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        const viewport = { width, height: 900 };
        const { page } = await opened(source, path, { colorScheme, viewport });

        expect(await violationsOn(page)).toEqual([]);
      }
    }
  });
});
