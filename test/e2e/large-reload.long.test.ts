import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  get,
  msUntilEnd,
  type RunningDaemon,
  startDaemon,
  stopProgram,
  withFiles,
} from '../support/daemon-process.ts';

/** Nothing listens there: what is tested does not depend on a vendor. */
const account =
  'accounts: [{ name: one, base_url: "http://127.0.0.1:1", api_key_env: KEY }]\napps:\n';

function idsFrom(first: number, count: number): string {
  const entries = Array.from({ length: count }, (_, index) => `  - id: ${first + index}\n`);
  return `${account}${entries.join('')}`;
}

async function withDaemon(
  config: string,
  use: (daemon: RunningDaemon, file: string) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await withFiles({ 'config.yaml': config }, async (directory) => {
    const file = `${directory}/config.yaml`;
    const flags = [`--config.file=${file}`, '--web.enable-lifecycle'];
    const daemon = await startDaemon(flags, { KEY: 'NRAK-LARGE', ...env });
    try {
      await use(daemon, file);
    } catch (error) {
      const { exitCode, signalCode } = daemon.child;
      throw new Error(`the daemon (${exitCode ?? signalCode ?? 'running'}): ${daemon.stderr()}`, {
        cause: error,
      });
    } finally {
      await stopProgram(daemon);
    }
  });
}

/** As many regular expressions as a file may have. */
function patternsFrom(first: number): string {
  const entries = Array.from({ length: 1750 }, (_, index) => `  - match: "^s-${first + index}"\n`);
  return `${account}${entries.join('')}`;
}

const outcome = /"msg":"(?:configuration reloaded|reload failed)"/u;

/** The longest time that the daemon took to say that it is healthy until its reload has ended. */
async function longestAnswerMs(daemon: RunningDaemon): Promise<number> {
  let longestMs = 0;
  daemon.child.kill('SIGHUP');
  while (!outcome.test(daemon.stderr())) {
    const startMs = performance.now();
    const { status } = await get(`${daemon.url}/-/healthy`);
    expect(status).toBe(200);
    longestMs = Math.max(longestMs, performance.now() - startMs);
  }
  return longestMs;
}

describe('a daemon that reads a large configuration again', () => {
  it.each([
    { what: 'a good one', text: idsFrom(2, 10_000), says: '"configuration reloaded"' },
    {
      what: 'one that is wrong everywhere',
      text: idsFrom(2, 10_000).replaceAll('id:', 'idd:'),
      says: 'and 9950 more',
    },
  ])('answers within the ten seconds of a scrape: $what', async ({ text, says }) => {
    await withDaemon(idsFrom(1, 1), async (daemon, file) => {
      await writeFile(file, text);

      const longestMs = await longestAnswerMs(daemon);

      expect(longestMs).toBeLessThan(10_000);
      expect(daemon.stderr()).toContain(says);
      expect((await get(`${daemon.url}/-/healthy`)).status).toBe(200);
    });
  });

  it('stops in order in the middle of it', async () => {
    await withDaemon(idsFrom(1, 1), async (daemon, file) => {
      await writeFile(file, idsFrom(2, 10_000));
      daemon.child.kill('SIGHUP');
      // By then the signal has been taken.
      await get(`${daemon.url}/-/healthy`);

      const [tookMs, { code, stderr }] = await Promise.all([
        msUntilEnd(daemon),
        stopProgram(daemon),
      ]);

      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(3000);
      expect(stderr).toContain('"stopping"');
      expect(stderr).not.toMatch(/reload failed|fault of the program/u);
    });
  });

  it('lives with as many regular expressions as it may have, in the heap that docs/kubernetes.md advises', async () => {
    const texts = [
      `${patternsFrom(10_000)}# the same`,
      patternsFrom(10_000).replace('match', 'mtach'),
      patternsFrom(20_000),
      patternsFrom(30_000),
    ];
    const env = { NODE_OPTIONS: '--max-old-space-size=96' };
    const reload = async (daemon: RunningDaemon, file: string, text: string): Promise<number> => {
      await writeFile(file, text);
      return (await get(`${daemon.url}/-/reload`, 'POST')).status;
    };
    await withDaemon(
      patternsFrom(10_000),
      async (daemon, file) => {
        const statuses: number[] = [];
        for (const text of texts) statuses.push(await reload(daemon, file, text));

        expect(statuses).toEqual([200, 500, 200, 200]);
        expect((await get(`${daemon.url}/-/healthy`)).status).toBe(200);
      },
      env,
    );
  });
});
