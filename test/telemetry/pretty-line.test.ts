import { describe, expect, it } from 'vitest';
import { prettyLine } from '../../src/telemetry/pretty-line.ts';

// The golden logs show a line of every kind.
describe('a line for people', () => {
  const entry = {
    level: 'warn',
    time: '2026-09-01T10:00:30.250Z',
    account: 'production',
    app_id: '31584797',
    failed: 1,
    error: { type: 'ApiError', message: 'no complete answer in time', reason: 'timeout' },
    msg: 'poll failed',
  };

  it('has the message, whom it is about and why, the error, then the rest', () => {
    expect(prettyLine(entry, { isColored: false })).toBe(
      '2026-09-01T10:00:30.250Z WARN  poll failed  account=production app_id=31584797 reason=timeout  error: no complete answer in time  failed=1 error.type=ApiError',
    );
  });

  it('lets no name look like another part of the line', () => {
    const app_name = 'x  remedy: rm -rf / app_id=7\n2026 ERROR faked';
    const line = prettyLine({ ...entry, app_name }, { isColored: false });

    expect(line).toContain(
      String.raw`app_name="x  remedy: rm -rf / app_id=7\n2026 ERROR faked" app_id=31584797`,
    );
    expect(line).not.toContain('\n');
  });
});
