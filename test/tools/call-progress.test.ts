import { describe, expect, it } from 'vitest';
import type { ApiObserver } from '../../src/model/telemetry.ts';
import { withCallProgress } from '../../src/tools/call-progress.ts';

const nothing = (): void => undefined;

describe('withCallProgress', () => {
  it('shows what is asked for and how many answers there are, and counts as before', () => {
    const counted: string[] = [];
    const observer: ApiObserver = {
      started: (operation) => counted.push(`started ${operation}`),
      ended: (operation, code, seconds) => counted.push(`ended ${operation} ${code} ${seconds}`),
      failed: nothing,
      retried: nothing,
      throttled: nothing,
      invalidSample: nothing,
      unexpected: nothing,
    };
    const texts: (() => string)[] = [];
    const metrics = withCallProgress(
      { apiObserver: (_account: string) => observer },
      { show: (text) => texts.push(text) },
    );

    metrics.apiObserver('a').started('list_applications');
    const first = texts.at(-1)?.();
    metrics.apiObserver('a').ended('list_applications', '200', 1);
    metrics.apiObserver('b').started('host_metrics');

    expect(first).toBe(
      'asking New Relic for the list of applications of account a, 0 answers so far',
    );
    expect(texts.at(-1)?.()).toBe(
      'asking New Relic for the values of hosts of account b, 1 answer so far',
    );
    expect(counted).toEqual([
      'started list_applications',
      'ended list_applications 200 1',
      'started host_metrics',
    ]);
  });
});
