import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolOrSkip } from '../support/tools.ts';
import { loadGrafanaData } from './grafana-data.ts';
import { type ManyApplications, startManyApplications } from './many-applications.ts';
import { type PanelAnswers, panelsAt } from './panels-at.ts';
import { situations } from './situations.ts';

const prometheusTool = toolOrSkip('prometheus');
const promtool = toolOrSkip('promtool');
/** Each application of the healthy situation so often: 2000 applications, more than any panel may list. */
const copies = 250;

/** More lines or bars nobody can tell apart. */
const mostLines = 60;
/** More rows nobody reads, and a browser becomes slow. */
const mostRows = 500;

describe.skipIf(prometheusTool.skip || promtool.skip)(
  `dashboards of 2000 applications${prometheusTool.note}`,
  () => {
    let bench: ManyApplications | undefined;
    let answers: readonly PanelAnswers[] = [];
    beforeAll(async () => {
      const [healthy] = situations;
      if (healthy === undefined) throw new Error('there is no situation');
      const programs = { prometheus: prometheusTool.path, promtool: promtool.path };
      bench = await startManyApplications(healthy, copies, programs);
      const view = { cluster: healthy.cluster, from: 'now-15m' };
      answers = await panelsAt(view, bench, loadGrafanaData());
    });
    afterAll(async () => bench?.stop());

    it('have all of them to show', async () => {
      const published = 'count(group by (account, app_id) (newrelic_application_info))';
      const { result } = (await bench?.query(published)) ?? { result: [] };

      expect(result.map(({ value: [, count] }) => count)).toEqual(['2000']);
      expect(answers.filter(({ filled }) => filled > 0).length).toBeGreaterThan(40);
    });

    it('make no query that Prometheus refuses', () => {
      expect(answers.filter(({ problem }) => problem !== '')).toEqual([]);
    });

    it(`draw at most ${mostLines} lines in a panel`, () => {
      const drawn = answers.filter(({ type }) => type !== 'table');

      expect(drawn.filter(({ series }) => series > mostLines)).toEqual([]);
    });

    it(`list at most ${mostRows} rows in a table`, () => {
      expect(answers.filter(({ mostSeries }) => mostSeries > mostRows)).toEqual([]);
    });
  },
);
