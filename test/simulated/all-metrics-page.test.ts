import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AccountSource } from '../../src/model/config.ts';
import { presetNames } from '../../src/model/presets.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { customMetrics } from '../newrelic/nerdgraph/some-metrics.ts';
import { anEntry } from '../support/builders.ts';
import { pagePolledOnce } from './polled-once.ts';

const entry = anEntry({
  poll: { raw: true, hostNames: true, metrics: [...presetNames, ...customMetrics] },
});
const names = new Set(entry.series.flatMap(({ gauge }) => [gauge.name, gauge.hostName]));

/** A sample without the id of its host. The last digits depend on which side has multiplied. */
function comparable(line: string): string {
  const [series = '', value] = line.replace(/host_id="[^"]*"/u, 'host_id=""').split('} ');
  return `${series}} ${Number(Number(value).toPrecision(12))}`;
}

const applications: readonly ApplicationSpec[] = [
  {
    id: 101,
    name: 'shop',
    kind: 'both',
    webRpm: 1234.5,
    otherRpm: 31.4,
    hosts: [
      { id: 11, name: 'a' },
      { id: 12, name: "b'c", weight: 3 },
    ],
  },
  { id: 102, name: 'worker', kind: 'other', otherRpm: 67, hosts: [{ id: 21, name: 'a' }] },
  { id: 103, name: 'quiet', kind: 'web', webRpm: 0.4, hosts: [{ id: 31, name: 'q' }] },
];

/** The samples of all that is polled, as a source publishes them. */
async function pageOf(source: AccountSource): Promise<string> {
  const page = String(await pagePolledOnce(source, entry, applications));
  return page
    .split('\n')
    .filter((line) => names.has(/^\w+/u.exec(line)?.[0] ?? ''))
    .map((line) => `${comparable(line)}\n`)
    .join('');
}

describe('the page with all presets and values of all kinds', () => {
  it('is as in the file with REST', async () => {
    await expect(await pageOf({ kind: 'rest', accountId: undefined })).toMatchFileSnapshot(
      'all-metrics-page.txt',
    );
  });

  it('is the same with NerdGraph, but for the ids of hosts and what was always 0', async () => {
    const written = readFileSync(new URL('all-metrics-page.txt', import.meta.url), 'utf8');
    const isBusy = (line: string): boolean => !line.endsWith(' 0');

    const page = await pageOf({ kind: 'nerdgraph', accountId: 1_234_567 });

    expect(page.split('\n').filter(isBusy)).toEqual(written.split('\n').filter(isBusy));
  });
});
