import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolOrSkip } from '../support/tools.ts';
import { situations } from './situations.ts';
import { type SituationsPrometheus, startSituations } from './situations-prometheus.ts';

const prometheusTool = toolOrSkip('prometheus');
const promtool = toolOrSkip('promtool');

describe.skipIf(prometheusTool.skip || promtool.skip)(
  `situations in a real Prometheus${prometheusTool.note}`,
  () => {
    let bench: SituationsPrometheus;
    beforeAll(async () => {
      bench = await startSituations({ prometheus: prometheusTool.path, promtool: promtool.path });
    });
    afterAll(async () => bench?.stop());

    it.each(situations)('raise in "$name" the alerts $alerts', async (situation) => {
      const raised = await bench.alertsOf(situation);

      const names = [...new Set(raised.map(({ alertname }) => alertname))].toSorted();
      expect(names).toEqual(situation.alerts);
    });
  },
);
