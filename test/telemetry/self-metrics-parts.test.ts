import { describe, expect, it } from 'vitest';
import { endOfOpenMetrics, toOpenMetrics } from '../../src/exposition/open-metrics.ts';
import {
  type ParsedFamily,
  parseExposition,
  parseOpenMetrics,
} from '../support/exposition-parser.ts';
import { anAccountStatus } from './account-status.ts';
import { valueOf } from './exposition-lines.ts';
import { aFixture, prefix } from './self-metrics-fixture.ts';

describe('scraped', () => {
  it('counts by the status of the answer; those that are expected exist at 0 from the start', async () => {
    const { metrics } = aFixture();
    const before = await metrics.text();
    for (const status of [200, 503, 200, 405]) metrics.scraped(status);
    const after = await metrics.text();

    const counts = (text: string): readonly string[] =>
      ['200', '401', '405', '429', '500', '503'].map(
        (code) => `${code}: ${valueOf(text, `${prefix}scrape_requests_total{code="${code}"}`)}`,
      );
    expect(counts(before)).toEqual([
      '200: 0',
      '401: 0',
      '405: undefined',
      '429: 0',
      '500: 0',
      '503: 0',
    ]);
    expect(counts(after)).toEqual(['200: 2', '401: 0', '405: 1', '429: 0', '500: 0', '503: 1']);
  });
});

describe('the parts', () => {
  it('stay as they are between two scrapes, but for the calls, the polls and the process', async () => {
    const { metrics } = aFixture([anAccountStatus({ missingSelectors: ['id=1'] })]);
    const api = metrics.apiObserver('production');
    const poll = metrics.pollObserver('production');
    const before = await metrics.parts();
    api.ended('list_hosts', '200', 0.2);
    poll.polled(2, true);

    const after = await metrics.parts();

    const changed = after.filter((part, index) => part !== before[index]).join('');
    const names = [...changed.matchAll(/^# TYPE newrelic_exporter_(\S+)/gm)].map(
      ([, name]) => name,
    );
    expect(names.filter((name) => /^(?:api_request|polls?_)/u.test(name ?? ''))).toEqual([
      'api_requests_total',
      'api_request_duration_seconds',
      'polls_total',
      'poll_duration_seconds',
      'api_requests_in_flight',
      'poll_interval_seconds',
    ]);
    expect(changed).not.toContain('app_missing');
    expect(after.join('')).toContain('newrelic_exporter_app_missing{');
  });

  it('together are the same series in both formats', async () => {
    const { metrics } = aFixture([anAccountStatus({ missingSelectors: ['match=^a"\\.b$'] })]);
    metrics.apiObserver('production').ended('list_hosts', '200', 0.2);
    metrics.pollObserver('production').polled(2, false);

    const text = (await metrics.parts()).join('');

    const samplesIn = (families: readonly ParsedFamily[]): readonly unknown[] =>
      families.flatMap(({ samples }) => samples);
    const open = parseOpenMetrics(Buffer.from(toOpenMetrics(text) + endOfOpenMetrics));
    expect(samplesIn(open)).toEqual(samplesIn(parseExposition(Buffer.from(text))));
  });
});
