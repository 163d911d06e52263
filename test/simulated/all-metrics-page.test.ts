import { describe, expect, it } from 'vitest';
import type { AccountSource } from '../../src/model/config.ts';
import { presetNames } from '../../src/model/presets.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { customMetrics } from '../nerdgraph/some-metrics.ts';
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
  it.each([
    { what: 'REST', source: { kind: 'rest', accountId: undefined } },
    { what: 'NerdGraph', source: { kind: 'nerdgraph', accountId: 1_234_567 } },
  ] as const)('is the same with $what, but for the ids of hosts', async ({ source }) => {
    await expect(await pageOf(source)).toMatchFileSnapshot('all-metrics-page.txt');
  });
});
