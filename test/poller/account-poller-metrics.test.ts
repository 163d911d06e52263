import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import type { CustomMetric } from '../../src/model/polled-series.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { aBench, apis } from '../support/poller-bench.ts';

const minuteMs = 60_000;
const misspelt: CustomMetric = {
  metric: 'Custom/Qeue/Depth',
  value: 'average_value',
  as: 'queue_depth',
  scale: 1,
  help: undefined,
  labels: {},
  scope: 'both',
};

describe.each(apis)('$name', (api) => {
  describe('a metric that no application of an entry has', () => {
    const anEntryWith = (metric: CustomMetric = misspelt): AppEntry =>
      anEntry({ hosts: false, poll: { metrics: ['throughput', metric] } });
    const missing = {
      selector: 'match=^',
      name: 'queue_depth',
      metric: 'Custom/Qeue/Depth',
      value: 'average_value',
    };

    it('is in the status and once in the log, until it has a value', async () => {
      const bench = aBench(api, [anEntryWith()]);
      bench.source.list(anApplication({ id: '1' }), anApplication({ id: '2' }));
      bench.source.answer('1', [120, undefined, undefined]);
      bench.source.answer('2', [undefined, undefined, undefined]);
      bench.start();

      await bench.clock.advance(minuteMs / 2);
      const afterOnePoll = bench.poller.status().missingMetrics;
      await bench.clock.advance(10 * minuteMs);
      const whileMissing = bench.poller.status();
      bench.source.answer('2', [undefined, undefined, 3]);
      await bench.clock.advance(2 * minuteMs);

      expect(afterOnePoll).toEqual([]);
      expect(whileMissing).toMatchObject({ state: 'up', missingMetrics: [missing] });
      expect(bench.poller.status().missingMetrics).toEqual([]);
      const fields = { account: 'production', ...missing };
      expect(bench.logger.lines.filter(({ message }) => message.includes('metric'))).toEqual([
        {
          level: 'warn',
          message: 'metric never has a value',
          fields: { ...fields, remedy: expect.stringContaining('newrelic-exporter metrics') },
        },
      ]);
    });
  });
});
