import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { familiesOf, fixedFamilies } from '../../src/publish/families.ts';
import { throughputSeries } from '../support/builders.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { toolOrSkip } from '../support/tools.ts';
import { aStore } from './builders.ts';
import { representativeSnapshots } from './vendor-exposition.ts';

const goldenPath = new URL('../golden/vendor-metrics.txt', import.meta.url);
const promtool = toolOrSkip('promtool');

async function renderedPage(): Promise<Buffer> {
  const store = aStore();
  for (const snapshot of representativeSnapshots) store.publish(snapshot);
  store.accountUp('production', true);
  store.accountUp('staging', false);
  return Buffer.concat((await store.page()).identity);
}

describe('the page of a representative installation', () => {
  let page: Buffer;
  beforeAll(async () => {
    page = await renderedPage();
  });

  it('is the golden file', async () => {
    await expect(page.toString()).toMatchFileSnapshot(goldenPath.pathname);
  });

  it('has every family', () => {
    const names = parseExposition(page).map(({ name }) => name);

    expect(names).toEqual(['newrelic_up', ...familiesOf(throughputSeries).map(({ name }) => name)]);
  });
});

describe.skipIf(promtool.skip)(`promtool check metrics${promtool.note}`, () => {
  it('complains of nothing in the golden file but of a word in five names', () => {
    const { stdout, stderr } = spawnSync(promtool.path, ['check', 'metrics'], {
      input: readFileSync(goldenPath),
      encoding: 'utf8',
    });

    // Here "summary" is the vendor's word for its rolling averages, not the metric type.
    const complaints = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
    expect(complaints).toEqual(
      fixedFamilies
        .filter(({ name }) => name.includes('_summary_'))
        .map(({ name }) => `${name} metric name should not include type 'summary'`)
        .toSorted(),
    );
  });
});
