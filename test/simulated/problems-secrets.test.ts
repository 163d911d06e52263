import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { configOf } from '../support/problem-bench.ts';
import { answered, faulty, statusSourceOf } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

const secret = 'NRAK-0123456789ABCDEFGHIJKLMNOPQ';
const hostile = '<script>alert(1)</script>"&';

describe('texts of problems', () => {
  it.each<[string, string, ReturnType<typeof answered> | ApiError]>([
    [
      'the error of a list',
      'list_applications',
      answered(`{"error":{"title":"bad key ${secret} at http://u:p4ssw0rd@proxy"}}`, 400),
    ],
    [
      'the error of a poll',
      '_metrics',
      answered(`{"error":{"title":"bad key ${secret} at http://u:p4ssw0rd@proxy"}}`, 400),
    ],
    [
      'a failing connection',
      '',
      new ApiError('connect', `http://u:p4ssw0rd@proxy:3128 refused ${secret}`),
    ],
  ])('hold no secret and no markup: %s', async (_, operation, answer) => {
    const bench = await aRunningDaemon(
      await configOf(
        `accounts: [{ name: one, api_key_file: /keys/one }]\napps: [{ match: ., discovery_interval: 60s, labels: { team: "<b>x" } }, { name: ${JSON.stringify(hostile)} }]`,
      ),
      {
        files: { '/keys/one': secret },
        apiKeys: [secret],
        ...faulty({
          answer: (request) =>
            bench.platform.clock.monotonicMs() > 2 * minuteMs &&
            request.operation.includes(operation)
              ? answer
              : undefined,
        }),
      },
    );
    await bench.platform.clock.advance(5 * minuteMs);
    const source = statusSourceOf(
      bench,
      `c.yaml:1:1: ${secret} <img src=x> http://u:p4ssw0rd@proxy`,
    );
    const html = statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' });
    const json = [
      ...targetsJson(source, { state: 'any', scrapePool: undefined, applicationId: undefined }),
    ].join('');

    expect(html + json).not.toMatch(/0123456789ABCDEFGHIJKLMNOPQ|p4ssw0rd/u);
    expect(html).not.toMatch(/<script>alert|<img src=x/u);
  });
});
