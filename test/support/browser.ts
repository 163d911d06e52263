import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { type Tool, toolOrSkip } from './tools.ts';

export const chromiumTool: Tool = toolOrSkip('chromium');

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumTool.path });
}

/** A page with what went wrong on it: messages of the console, errors, requests elsewhere. */
export interface WatchedPage {
  readonly page: Page;
  readonly troubles: readonly string[];
}

/** A new page, closed when the test has ended. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(async () => context.close());
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('console', (message) => {
    troubles.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => {
    troubles.push(`error: ${error.message}`);
  });
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol !== 'data:' && hostname !== '127.0.0.1') troubles.push(`asks ${request.url()}`);
  });
  return { page, troubles };
}

/** The part of the answer of axe-core that we read; its own types need those of a browser. */
interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe-core finds, each violation with its elements. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(await readFile(axeFile, 'utf8'));
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, help, nodes }) =>
    nodes
      .slice(0, 3)
      .map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  );
}
