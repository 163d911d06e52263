import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import {
  freePort,
  get,
  startDaemon,
  startProgram,
  stopProgram,
  until,
  withFiles,
} from '../support/daemon-process.ts';
import { runsIn } from './command-rule.ts';
import { readDocument } from './documents.ts';
import { goodConfigsIn } from './example-rule.ts';

const { text } = readDocument('docs/getting-started.md');
const key = 'NRAK-ABCDEFGHIJKLMNOPQRSTUVWXYZ1';
const [config = ''] = goodConfigsIn(text);

const endsByItself: ReadonlySet<string> = new Set(['check-config', 'discover', 'plan', 'once']);

/** The commands that end by themselves, in the order of the document. */
const oneShot = runsIn(text).filter(({ arguments: [command = 'serve'] }) =>
  endsByItself.has(command),
);

/** The first configuration of the document, but for the simulated account instead of a region. */
function configFor(baseUrl: string): string {
  return config.replace(/region: us.*/, `base_url: ${baseUrl}`);
}

describe('the steps of docs/getting-started.md', () => {
  it('work in their order against a simulated account', async () => {
    const simulator = createSimulator(
      { apiKeys: [key], latencyMs: [5, 20], fleet: { applications: 3, hosts: 9 } },
      { clock: createSystemClock() },
    );
    const { baseUrl } = await simulator.start();
    expect(new Set(oneShot.map(({ arguments: [command] }) => command))).toEqual(endsByItself);

    await withFiles(
      { 'config.yaml': configFor(baseUrl), 'newrelic.key': `${key}\n` },
      async (directory) => {
        const env = {
          NEWRELIC_EXPORTER_CONFIG_FILE: `${directory}/config.yaml`,
          // The port of the document may be in use here.
          NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: `127.0.0.1:${await freePort()}`,
        };
        // What needs root is for the unit of systemd.
        for (const run of oneShot.filter(({ written }) => !written.startsWith('sudo '))) {
          const { code, stderr } = await startProgram(run.arguments, env).ended;

          expect({ written: run.written, code, stderr }).toMatchObject({ code: 0 });
        }

        const daemon = await startDaemon([], {
          NEWRELIC_EXPORTER_CONFIG_FILE: env.NEWRELIC_EXPORTER_CONFIG_FILE,
        });
        const page = await until(async () => {
          const { text: metrics } = await get(`${daemon.url}/metrics`);
          return metrics.includes('newrelic_application_requests_per_minute{')
            ? metrics
            : undefined;
        });
        await stopProgram(daemon);

        expect(page).toContain('newrelic_up{account="production"} 1');
      },
    );
    await simulator.stop();
  });
});
