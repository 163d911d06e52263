import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const env = { NEWRELIC_EXPORTER_LOGLEVEL: 'debug' };

describe('a misspelt variable', () => {
  it('draws a warning, and the command goes on', async () => {
    const platform = createFakePlatform({ env });

    const exitCode = await run(['config-schema'], platform);

    expect({ exitCode, stderr: platform.stderr.text() }).toEqual({
      exitCode: 0,
      stderr:
        'warning: unknown variable NEWRELIC_EXPORTER_LOGLEVEL: did you mean "NEWRELIC_EXPORTER_LOG_LEVEL"?\n',
    });
    expect(platform.stdout.text()).toContain('"$schema"');
  });

  it('is in the log of a daemon', async () => {
    const platform = createFakePlatform({ env });

    const exitCode = await run(['serve', '--log.format=json'], platform);

    expect(exitCode).toBe(2);
    expect(platform.stderr.text()).toMatch(
      /^\{.*"variable":"NEWRELIC_EXPORTER_LOGLEVEL","remedy":"did you mean \\"NEWRELIC_EXPORTER_LOG_LEVEL\\"\?","msg":"unknown environment variable"\}\n/u,
    );
  });
});
