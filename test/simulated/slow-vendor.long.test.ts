import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

const count = (page: string, pattern: RegExp): number => [...page.matchAll(pattern)].length;

describe('2.1 at a vendor that is so slow that its answers, not the budget, are the limit', () => {
  it('shows every application, only less often, and says how often', async () => {
    const applications = 25;
    // 276 calls a minute are wanted; eight at a time, of four seconds each, are 120.
    const running = await aRunningDaemon(
      { accounts: [accountOne()], apps: [anEntry({ account: 'one' })] },
      { latencyMs: 4000, fleet: { applications, hosts: 250, kinds: ['web'] } },
    );
    const { clock } = running.platform;

    await clock.advance(20 * minuteMs);

    const page = await running.page();
    const interval = running.daemon.status()[0]?.pollIntervalSeconds ?? 0;
    const ages = [
      ...page.matchAll(/^newrelic_application_last_success_timestamp_seconds\{.*\} (\S+)$/gmu),
    ].map(([, timestamp]) => clock.wallMs() / 1000 - Number(timestamp));
    expect(count(page, /^newrelic_application_requests_per_minute\{/gmu)).toBe(applications);
    expect(count(page, /^newrelic_application_poll_success\{.*\} 1$/gmu)).toBe(applications);
    expect(interval).toBeGreaterThan((60 * 275) / 120);
    expect(interval).toBeLessThan((1.25 * 60 * 275) / 120);
    expect(ages).toHaveLength(applications);
    expect(Math.max(...ages)).toBeLessThan(1.3 * interval);
  });
});
