import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import type { Intercept } from '../../src/simulator/simulator-options.ts';
import { chromiumTool, openPage, startBrowser } from '../support/browser.ts';
import { get, startDaemon, stopProgram, until, withFiles } from '../support/daemon-process.ts';

const configOf = (baseUrl: string): string => `
accounts:
  - name: e2e
    base_url: ${baseUrl}
    api_key_file: api-key
poll: { interval: 1s, discovery_interval: 1s, stale_after: 6s }
apps:
  - match: "."
`;

/** What the vendor does at present. */
interface Vendor {
  fault: Intercept | undefined;
}

/** Answers every matching request with a status. */
function answering(status: number, isMeant: (path: string) => boolean): Intercept {
  return (request, response) => {
    if (!isMeant(request.path)) return 'pass';
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end('{"error":{"title":"It fails on purpose"}}');
    return 'handled';
  };
}

interface Scene {
  readonly page: Page;
  readonly vendor: Vendor;
  readonly troubles: readonly string[];
}

describe.skipIf(chromiumTool.skip)(
  `the status page of the built daemon in a browser${chromiumTool.note}`,
  () => {
    let browser: Browser;

    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(async () => browser.close());

    /** A page of a daemon for which all went well so far. */
    async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
      const vendor: Vendor = { fault: undefined };
      const simulator = createSimulator(
        {
          apiKeys: ['NRAK-E2E'],
          ingestDelayMs: 0,
          fleet: { applications: 3, hosts: 6 },
          intercept: (request, response) => vendor.fault?.(request, response) ?? 'pass',
        },
        { clock: createSystemClock() },
      );
      const { baseUrl } = await simulator.start();
      onTestFinished(async () => simulator.stop());
      const files = { 'config.yaml': configOf(baseUrl), 'api-key': 'NRAK-E2E\n' };
      await withFiles(files, async (directory) => {
        const daemon = await startDaemon([
          `--config.file=${directory}/config.yaml`,
          '--config.auto-reload-interval=1s',
        ]);
        try {
          await until(async () =>
            (await get(`${daemon.url}/-/ready`)).status === 200 ? true : undefined,
          );
          const { page, troubles } = await openPage(browser);
          await page.goto(daemon.url);
          await page.locator('.banner.good').waitFor();
          await use({ page, vendor, troubles });
        } finally {
          await stopProgram(daemon);
        }
      });
    }

    /** Waits, without a reload, until the page that is open says so in red; all of what it says. */
    async function redText(page: Page, text: RegExp): Promise<string> {
      const element = page.locator('.bad:visible', { hasText: text }).first();
      await element.waitFor({ timeout: 120_000 });
      return element.innerText();
    }

    it('shows polls that fail, with the reason, and later that values were dropped', async () => {
      await withScene(async ({ page, vendor, troubles }) => {
        vendor.fault = answering(500, (path) => path.endsWith('/metrics/data.json'));
        expect(await redText(page, /status 500/u)).toMatch(/status 500/u);
        expect(await redText(page, /^dropped$/u)).toMatch(/^dropped$/u);
        expect(await page.locator('.banner').innerText()).toMatch(/^degraded/u);

        vendor.fault = undefined;
        await page.locator('.banner.good').waitFor({ timeout: 120_000 });
        expect(troubles).toEqual([]);
      });
    });
  },
);
