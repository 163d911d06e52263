import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolOrSkip } from '../support/tools.ts';
import { loadGrafanaData } from './grafana-data.ts';
import { type PanelAnswers, panelsAt } from './panels-at.ts';
import { situationFacts } from './situation-facts.ts';
import { inCluster, situations } from './situations.ts';
import { type SituationsPrometheus, startSituations } from './situations-prometheus.ts';

const prometheusTool = toolOrSkip('prometheus');
const promtool = toolOrSkip('promtool');
const grafana = loadGrafanaData();
const ranges = ['now-15m', 'now-6h', 'now-24h', 'now-7d'] as const;

/** More lines nobody can tell apart. */
const mostLines = 60;
/** Grafana rounds the step, so there may be more points than pixels. */
const mostPointsPerPixel = 2;
/** More rows need pages. */
const mostRows = 1000;

/** Panels that are empty while all is well. */
const aboutTrouble = /unhealthy|fail|left out|refused|match nothing|without a value|annotation/iu;

const views = situations.flatMap((situation) => ranges.map((from) => ({ situation, from })));

describe.skipIf(prometheusTool.skip || promtool.skip)(
  `situations in a real Prometheus${prometheusTool.note}`,
  () => {
    let bench: SituationsPrometheus | undefined;
    beforeAll(async () => {
      bench = await startSituations({ prometheus: prometheusTool.path, promtool: promtool.path });
    });
    afterAll(async () => bench?.stop());
    const started = (): SituationsPrometheus => {
      if (bench === undefined) throw new Error('the situations did not start');
      return bench;
    };
    const answersAt = async (cluster: string, from: string): Promise<readonly PanelAnswers[]> =>
      panelsAt({ cluster, from }, started(), grafana);
    const emptyAt = async (cluster: string, from: string): Promise<readonly string[]> =>
      (await answersAt(cluster, from))
        .filter(({ filled }) => filled === 0)
        .map(({ where }) => where);

    it.each(situations)('show what "$name" is about', async ({ isSeen }) => {
      const { result } = await started().query(isSeen);

      expect(result).not.toEqual([]);
    });

    it.each(situationFacts)(
      'show in "$situation" that $expression is $value',
      async ({ situation, expression, value }) => {
        const { cluster = '' } = situations.find(({ name }) => name === situation) ?? {};

        const { result } = await started().query(inCluster(expression, cluster));

        expect(result.map((one) => Number(one.value[1]))).toEqual(
          value === undefined ? [] : [value],
        );
      },
    );

    it.each(situations)('raise in "$name" the alerts $alerts', async (situation) => {
      const raised = await started().alertsOf(situation);

      const names = [...new Set(raised.map(({ alertname }) => alertname))].toSorted();
      expect(names).toEqual(situation.alerts);
    });

    it.each(views)(
      'can be drawn for "$situation.name" from $from on',
      async ({ situation: { cluster }, from }) => {
        const answers = await answersAt(cluster, from);

        const graphs = answers.filter(({ type }) => type !== 'table');
        expect(answers.filter(({ problem }) => problem !== '')).toEqual([]);
        expect(graphs.filter(({ series }) => series > mostLines)).toEqual([]);
        expect(answers.filter(({ series }) => series > mostRows)).toEqual([]);
        expect(answers.filter(({ points, width }) => points > mostPointsPerPixel * width)).toEqual(
          [],
        );
      },
    );

    it.each(ranges)('fill from %s on every panel but those about trouble', async (from) => {
      const empty = await emptyAt('healthy', from);

      expect(empty.filter((where) => !aboutTrouble.test(where))).toEqual([]);
    });

    it.each(ranges)('leave from %s on every panel empty if nothing is scraped', async (from) => {
      const answers = await answersAt('nothing-scraped', from);

      expect(answers.filter(({ filled }) => filled > 0)).toEqual([]);
    });
  },
);
