import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../../src/model/time.ts';
import { printedOn } from '../survey/ask-bench.ts';
import {
  accountOf,
  backfilled,
  pageAt,
  shortRun as run,
  stopAt,
  temporaryDirectory,
} from './backfill-bench.ts';
import { pastVendor } from './past-vendor.ts';
import { salesOf } from './past-world.ts';

describe('backfill of queries', () => {
  it('has no sample of a group in a window without events, of which New Relic has a row of 0', async () => {
    const nowMs = Date.parse('2026-09-01T10:00:00Z');
    const world = { number: 1, nowMs, mostWindows: 366 };
    const output = join(await temporaryDirectory(), 'past.om');
    const text = `${accountOf('nerdgraph')}queries: [{ as: sales, nrql: "SELECT count(*) FROM Sale FACET city LIMIT 50", window: 5m, delay: 1m }]\n`;
    const range = ['--from=2026-09-01T08:00:00Z', '--to=2026-09-01T10:00:00Z', '--step=5m'];
    const { exitCode, stderr } = await printedOn(
      { openTransport: async () => pastVendor(world) },
      {},
      ['backfill', 'c.yaml', ...range, `--output=${output}`],
      { 'c.yaml': text },
      '2026-09-01T10:00:00Z',
    );
    const found = await readFile(output, 'utf8').catch(() => stderr);
    const times = Array.from({ length: 25 }, (_, at) => nowMs - 2 * hourMs + 5 * at * minuteMs);
    const groups = times.map((timeMs) => {
      const toMs = timeMs - minuteMs;
      const sales = salesOf(world, 1_234_567, { fromMs: toMs - 5 * minuteMs, toMs });
      const cities = new Set(sales.map(({ city }) => city));
      return { shown: pageAt(found, new Date(timeMs).toISOString()), cities };
    });

    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    for (const { shown, cities } of groups) {
      expect(shown).toHaveLength(cities.size);
      expect(shown.filter((line) => line.endsWith(' 0'))).toEqual([]);
    }
    // Of four: in some windows one of them has nothing.
    expect(new Set(groups.map(({ cities }) => cities.size)).size).toBeGreaterThan(1);
  });

  const nrql = '"SELECT count(*) FROM Transaction FACET host LIMIT 50"';
  const queries = /^queries:.*$/mu;
  it.each([
    { what: 'another NRQL', text: run.file.replace('count(*)', 'max(duration)') },
    { what: 'a condition', text: run.file.replace(' FACET', ' WHERE duration > 1 FACET') },
    { what: 'another window', text: run.file.replace(nrql, `${nrql}, window: 10m`) },
    { what: 'another delay', text: run.file.replace(nrql, `${nrql}, delay: 1m`) },
    { what: 'another label', text: run.file.replace(nrql, `${nrql}, labels: { host: machine }`) },
    {
      what: 'a constant label',
      text: run.file.replace(nrql, `${nrql}, constant_labels: { team: a }`),
    },
    { what: 'fewer series', text: run.file.replace(nrql, `${nrql}, max_series: 1`) },
    { what: 'another gauge', text: run.file.replace('calls_by_host', 'calls_of_hosts') },
    { what: 'no query', text: run.file.replace(queries, '') },
  ])('takes no part of a run whose query has another meaning: $what', async ({ text }) => {
    const directory = await temporaryDirectory();
    const stopped = await backfilled({ ...run, directory, beforeCall: stopAt(4) });
    const other = await backfilled({ ...run, file: text, directory });

    expect(text).not.toBe(run.file);
    expect(other).toMatchObject({ exitCode: 2, calls: 0, output: undefined, left: stopped.left });
    expect(other.stderr).toContain('past.om.parts is of another run (2026-08-31T22:00:00Z to');
  });
});
