import { describe, expect, it } from 'vitest';
import { createStatusSource } from '../../src/daemon/serve.ts';
import type { ReloadStatus } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { withTimedFaults } from './fault-bench.ts';
import { sources } from './sources.ts';

/** Its three forms differ, and New Relic has none like it. */
const canary = 'canary"key"%/+1';

const forms = [
  { form: 'as it is', write: (key: string) => key },
  { form: 'in JSON', write: (key: string) => JSON.stringify(key).slice(1, -1) },
  { form: 'percent-encoded', write: encodeURIComponent },
];

describe.each(sources)('6 with $name', (source) => {
  it.each(forms)('a key that New Relic repeats $form is in no output', async ({ write }) => {
    const said = `bad key ${write(canary)}!`;
    const body = JSON.stringify({ error: { title: said }, errors: [{ message: said }] });
    await withTimedFaults(
      {
        source: source.account,
        keyFile: () => canary,
        network: (wire, clock) => ({
          ...wire,
          send: async (...asked) =>
            clock.monotonicMs() < 2 * minuteMs
              ? wire.send(...asked)
              : { status: 400, headers: { 'content-type': 'application/json' }, body },
        }),
        simulator: { apiKeys: [canary] },
      },
      async (bench) => {
        const { daemon, platform, pages } = bench;
        await bench.advance(5 * minuteMs);
        await bench.scrape();
        const problem = `c.yaml:1:1: ${said}`;
        const reload: ReloadStatus = {
          configFile: 'c.yaml',
          includedFiles: [],
          brokenFiles: [{ name: 'a.yaml', problem }],
          inForceSinceMs: 0,
          lastAttemptMs: 0,
          problem,
        };
        const status = createStatusSource(daemon, () => reload, platform);
        const outputs = [
          platform.stderr.text(),
          platform.stdout.text(),
          ...pages,
          statusPage(status, new URLSearchParams(), { telemetryPath: '/metrics' }),
          ...targetsJson(status, {
            state: 'any',
            scrapePool: undefined,
            applicationId: undefined,
          }),
          await daemon.metrics.text(),
          status.effectiveConfig() ?? '',
          JSON.stringify([status.process(), status.accounts()]),
        ].join('\n');

        expect(outputs).toContain('bad key');
        expect(outputs.split('canary')).toHaveLength(1);
      },
    );
  });
});
