import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { StatusSource } from '../../src/model/status.ts';
import { refreshSeconds } from '../../src/web/status/refresh-script.ts';
import { chromiumTool, openPage, startBrowser, type WatchedPage } from '../support/browser.ts';
import { until } from '../support/daemon-process.ts';
import { type StatusServer, startStatusServer } from '../support/status-server.ts';
import {
  anApplicationStatus,
  aStatusSource,
  inState,
  manyApplications,
} from '../support/status-source.ts';

const good = [
  anApplicationStatus({ id: '1', name: 'auth' }),
  anApplicationStatus({ id: '2', name: 'shop' }),
];
const failing = anApplicationStatus({ ...inState('failing'), id: '2', name: 'shop' });

const allGood: StatusSource = aStatusSource({ applications: good });
const shopFails: StatusSource = aStatusSource({ applications: [...good.slice(0, 1), failing] });

describe.skipIf(chromiumTool.skip)(`the refresh of the status page${chromiumTool.note}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => browser.close());

  /** A page whose time only moves with `nextRefresh`. */
  async function opened(
    source: StatusSource,
    path = '/',
  ): Promise<WatchedPage & { readonly server: StatusServer }> {
    const server = await startStatusServer(source);
    onTestFinished(async () => server.close());
    const watched = await openPage(browser);
    await watched.page.clock.install();
    await watched.page.goto(server.url + path);
    return { ...watched, server };
  }

  async function nextRefresh(page: Page): Promise<void> {
    await page.clock.runFor(refreshSeconds * 1000);
  }

  const statesOn = async (page: Page): Promise<readonly string[]> =>
    page.locator('.applications .state').allInnerTexts();

  it('shows a fault within one interval, and that it is over', async () => {
    const { page, server, troubles } = await opened(allGood);

    server.show(shopFails);
    await nextRefresh(page);
    await page.locator('.why', { hasText: 'answered 500' }).waitFor();
    expect(await statesOn(page)).toEqual(['failing', 'held', 'up']);
    expect(await page.title()).toMatch(/^degraded: 1 application failing/u);
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toContain('d93025');

    server.show(allGood);
    await nextRefresh(page);
    await page.locator('.banner.good').waitFor();
    expect(await statesOn(page)).toEqual(['up', 'up']);
    expect(troubles).toEqual([]);
  });

  it('leaves alone what somebody types, and the focus', async () => {
    const { page, server } = await opened(allGood);

    await page.getByLabel('Search').pressSequentially('chec');
    server.show(shopFails);
    await nextRefresh(page);
    await page.locator('.banner.bad').waitFor();

    expect(await page.evaluate('document.activeElement.name')).toBe('q');
    await page.keyboard.type('kout');
    expect(await page.getByLabel('Search').inputValue()).toBe('checkout');
  });

  it('moves rows without losing the focus or the selection', async () => {
    const { page, server } = await opened(allGood);
    await page.getByRole('link', { name: 'shop' }).focus();
    await page.evaluate('window.row = document.querySelector(\'[data-key="production/2"]\')');

    server.show(shopFails);
    await nextRefresh(page);
    await page.locator('.banner.bad').waitFor();

    expect(await page.locator('.applications tbody').first().innerText()).toContain('shop');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('shop');
    expect(
      await page.evaluate("document.querySelector('.applications tbody') === window.row"),
    ).toBe(true);
  });

  it('stays where one has scrolled to', async () => {
    const many = manyApplications(200);
    const { page, server } = await opened(aStatusSource({ applications: many }), '/?sort=name');
    await page.evaluate('window.scrollTo(0, 3000)');

    const changed = many.map((one) => ({ ...one, lastPollMs: undefined }));
    server.show(aStatusSource({ applications: changed }));
    await nextRefresh(page);
    await page.getByText('not yet').first().waitFor();

    expect(await page.evaluate('window.scrollY')).toBe(3000);
  });

  it('is the same as a page that was loaded anew', async () => {
    const { page, server } = await opened(shopFails);
    server.show(aStatusSource({ applications: manyApplications(230) }));
    await nextRefresh(page);
    await page.locator('.pager').waitFor();
    const mainOf = "document.querySelector('main').innerHTML";
    const refreshed = await page.evaluate<string>(mainOf);
    await page.reload();

    expect(refreshed).toBe(await page.evaluate<string>(mainOf));
  });

  it('can be paused, and asks nothing meanwhile', async () => {
    const { page, server } = await opened(allGood);

    await page.getByRole('button', { name: 'Pause' }).click();
    server.show(shopFails);
    const before = server.asked();
    await page.clock.runFor(10 * refreshSeconds * 1000);
    expect(server.asked()).toBe(before);
    expect(await page.locator('#refresh span').innerText()).toBe('Paused.');

    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.banner.bad').waitFor();
  });

  it('asks nothing while nobody looks, and at once when somebody does', async () => {
    const { page, server } = await opened(allGood);
    const setHidden = async (isHidden: boolean): Promise<void> => {
      await page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      `);
    };

    await setHidden(true);
    server.show(shopFails);
    const before = server.asked();
    await page.clock.runFor(10 * refreshSeconds * 1000);
    expect(server.asked()).toBe(before);

    await setHidden(false);
    await page.locator('.banner.bad').waitFor();
  });

  it('says that what one sees is old while the exporter does not answer', async () => {
    const { page, server } = await opened(allGood);

    await page.route('**/*', async (route) => route.abort());
    await nextRefresh(page);
    const notice = page.locator('#refresh .bad');
    await notice.waitFor();
    expect(await notice.innerText()).toMatch(
      /^No answer since \d\d:\d\d:\d\d UTC: what you see is older\.$/u,
    );
    expect(await statesOn(page)).toEqual(['up', 'up']);

    await page.unroute('**/*');
    server.show(shopFails);
    await nextRefresh(page);
    await page.locator('.banner.bad').waitFor();
    await until(async () => ((await notice.count()) === 0 ? true : undefined));
  });

  it('says that an application is gone', async () => {
    const { page, server } = await opened(allGood, '/applications?account=production&id=2');

    server.show(aStatusSource({ applications: good.slice(0, 1) }));
    await nextRefresh(page);

    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    expect(await page.locator('main').innerText()).toContain(
      'with the id 2 in the account production',
    );
  });
});
