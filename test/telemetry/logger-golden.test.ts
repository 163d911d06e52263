import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { captureLog } from './log-capture.ts';

const application = { account: 'production', app_id: '31584797', app_name: 'Checkout "EU" (new)' };

describe('the log of an eventful minute', () => {
  it.each([
    { format: 'json', isTTY: false },
    { format: 'logfmt', isTTY: false },
    { format: 'pretty', isTTY: false },
    { format: 'pretty', isTTY: true },
  ] as const)('is as it was: $format, on a terminal $isTTY', async (options) => {
    const { log, lines } = await captureLog({ ...options, level: 'debug' });
    const error = new ApiError('auth', 'list_applications: status 401. Check the API key.', {
      status: 401,
    });
    error.stack = 'ApiError: list_applications: status 401.\n    at discover (discovery.ts:1)';

    log.info({ version: '0.1.0', addresses: [{ host: '::', port: 9126 }] }, 'listening');
    log.info({ account: 'production', listed: 12, selected: 3 }, 'account discovered');
    log.error({ account: 'production', error }, 'discovery failed');
    log.warn({ ...application, reason: 'timeout', remedy: 'wait' }, 'values dropped');
    log.warn(
      { account: 'production', reason: 'dns', applications: 2, examples: ['a b', '\u202ec'] },
      'still failing',
    );
    log.info({ ...application, suppressed: 41 }, 'poll works again');
    log.error(
      { trigger: 'file', problem: 'c.yaml:2:3: unknown key\n  2 | x: 1', remedy: 'correct it' },
      'reload failed',
    );
    log.debug(
      { account: 'production', host_id: '7', status: 200, bytes: 179, duration_ms: 119 },
      'call to the vendor',
    );

    const name = `log-${options.format}${options.isTTY ? '-terminal' : ''}.txt`;
    const golden = new URL(`../golden/${name}`, import.meta.url);
    await expect(lines.join('')).toMatchFileSnapshot(golden.pathname);
  });
});
