import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import {
  type ConfigThreadOptions,
  createConfigThread,
  type ThreadTask,
} from '../../src/daemon/config-thread.ts';
import { mainFile } from '../support/daemon-process.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';

const gigabyte = 1e9;

interface Bench {
  readonly platform: FakePlatform;
  readonly parse: ReturnType<typeof createConfigThread>;
}

function aBench(
  options: Partial<ConfigThreadOptions> = {},
  overrides: Partial<Pick<FakePlatform, 'nextTurn'>> = {},
): Bench {
  const platform = { ...createFakePlatform(), ...overrides };
  const program = pathToFileURL(mainFile);
  const parse = createConfigThread(
    { program, availableBytes: () => gigabyte, ...options },
    platform,
  );
  onTestFinished(() => {
    expect(platform.clock.pendingTimers()).toBe(0);
  });
  return { platform, parse };
}

/** A program that does not parse. */
function programOf(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

const task = (text: string): ThreadTask => ({ text, fileName: 'c.yaml', directory: '/etc' });

const every = (count: number, entry: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => entry(index)).join('');

const texts = [
  { what: 'one entry', text: 'apps: [{ id: 1 }]\n' },
  { what: 'thousands of entries', text: `apps:\n${every(2300, (at) => `  - id: ${at + 1}\n`)}` },
  {
    what: 'patterns, labels and several accounts',
    text:
      'accounts:\n  - { name: eins, region: us, api_key_file: key, ca_file: ca.pem }\n' +
      '  - { name: zwei, region: eu, api_key_env: KEY }\npoll: { window: default }\n' +
      'apps:\n  - { match: "^größe", account: eins, labels: { team: "Ä" }, hosts: false }\n' +
      '  - { name: "x", account: zwei, transactions: [web], interval: 1s }\n',
  },
];

describe('the thread that parses', () => {
  it.each(texts)('gives what parsing here gives, a slice at a time: $what', async ({ text }) => {
    let turns = 0;
    const nextTurn = async (): Promise<void> => {
      turns += 1;
    };
    const { parse } = aBench({}, { nextTurn });
    const here = await parseConfig(text, { fileName: 'c.yaml', directory: '/etc' });

    const there = await parse(task(text));

    expect(there.config).toEqual(here.config);
    expect(turns).toBeGreaterThanOrEqual(Math.ceil(here.config.apps.length / 500));
    expect(there.warnings.shown).toEqual(here.warnings);
    expect(there.warnings.more).toBe(0);
  });

  it('gives the first fifty warnings, and how many more there are', async () => {
    const { parse } = aBench();

    const { warnings } = await parse(
      task(`apps:\n${every(60, (at) => `  - { id: ${at + 1}, interval: 1s }\n`)}`),
    );

    expect(warnings.shown).toHaveLength(50);
    expect(warnings.more).toBe(10);
  });

  it.each([
    { what: 'a typo', text: 'apps: [{ idd: 1 }]' },
    { what: 'no YAML', text: 'apps: [{ id: ' },
    { what: 'the key itself', text: 'accounts: [{ name: a, api_key: NRAK-SECRET }]' },
  ])('refuses in the same words: $what', async ({ text }) => {
    const { parse } = aBench();
    const here = await parseConfig(text, { fileName: 'c.yaml', directory: '/etc' }).catch(
      (error: unknown) => error,
    );

    const there = await parse(task(text)).catch((error: unknown) => error);

    expect(here).toBeInstanceOf(ConfigError);
    expect(there).toMatchObject({ name: 'CommandError', message: (here as Error).message });
  });

  it('is given no variables of the environment, where keys are', async () => {
    process.env['THREAD_TEST_KEY'] = 'NRAK-SECRET';
    onTestFinished(() => {
      delete process.env['THREAD_TEST_KEY'];
    });
    const { parse } = aBench({
      program: programOf(
        'import { parentPort } from "node:worker_threads";' +
          'parentPort.postMessage({ kind: "refused", message: JSON.stringify(process.env) });',
      ),
    });

    await expect(parse(task(''))).rejects.toThrow(/^\{\}$/u);
  });

  it('fails the reload, and nothing else, when it runs out of memory', async () => {
    const { parse } = aBench({ availableBytes: () => 0 });
    const entries = Array.from({ length: 40_000 }, (_, index) => `  - { id: ${index + 1} }\n`);

    await expect(parse(task(`apps:\n${entries.join('')}`))).rejects.toMatchObject({
      name: 'CommandError',
      message:
        'c.yaml: the file could not be parsed: it takes more than 32 MB of memory: is it the right file?',
    });
  });

  it.each([
    { what: 'it throws', code: 'throw new Error("broken")', reason: 'broken' },
    { what: 'it ends without an answer', code: 'process.exit(3)', reason: 'its thread ended' },
  ])('fails the reload, and nothing else, when $what', async ({ code, reason }) => {
    const { parse } = aBench({ program: programOf(code) });

    await expect(parse(task(''))).rejects.toMatchObject({
      name: 'CommandError',
      message: `c.yaml: the file could not be parsed: ${reason}`,
    });
  });

  const endless = 'setInterval(() => {}, 1000); for (;;) {}';

  it('is given up after five minutes', async () => {
    const { platform, parse } = aBench({ program: programOf(endless) });

    const failure = parse(task('')).catch(String);
    await platform.clock.advance(300_000);

    expect(await failure).toContain('it took more than 5 minutes');
  });

  it('ends with the process', async () => {
    const { platform, parse } = aBench({ program: programOf(endless) });

    const failure = parse(task('')).catch(String);
    await platform.clock.advance(1000);
    platform.stop();

    expect(await failure).toContain('the process is stopping');
    await expect(parse(task(''))).rejects.toThrow('the process is stopping');
  });
});
