import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { maxRows } from '../../src/newrelic/nerdgraph/nrql.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import { eachAfter, slow } from '../support/slow.ts';
import { withTimedFaults } from './fault-bench.ts';
import {
  app,
  type Change,
  entries,
  expectFresh,
  expectHeldAlone,
  failures,
  fewMisleading,
  fleet,
  misleading,
  pagesOf,
  parts,
  production,
  source,
  success,
} from './misleading-answers.ts';

const unexpected = 'newrelic_exporter_unexpected_answers_total';

describe('11.1 an answer to a query for values that is not whole, or to another question', () => {
  eachAfter(1, fewMisleading)(
    'holds what it was to bring, and that alone: $part, $what',
    async (row) => {
      await expect(expectHeldAlone(row)).resolves.toBeUndefined();
    },
  );

  it('fails with another host than was asked for', async () => {
    const when = { part: 'hosts', fromMs: 2 * minuteMs, untilMs: 3 * minuteMs } as const;
    const fault: Change = ({ results }) => {
      for (const row of results) {
        row['facet'] = [row['appId'], 'web-0-1'];
        row['host'] = 'web-0-1';
      }
    };
    const [entry] = entries;
    const own = { ...entry, hosts: { kind: 'self', names: ['web-0-0'] } } as const;
    const options = {
      source,
      entries: [own],
      simulator: { fleet },
      ...misleading(fault, when),
    };
    await withTimedFaults(options, async (bench) => {
      await bench.advance(2 * minuteMs - 1);
      const pages = await pagesOf(bench, 3);

      const { name } = parts.hosts;
      const failed = { ...production, operation: 'host_metrics', reason: 'schema' };
      expect(pages.map((page) => page.series(name, app).map(({ host_id: id }) => id))).toEqual(
        pages.map(() => ['web-0-0']),
      );
      expect(pages.map((page) => page.value(failures, failed))).toEqual([1, 1, 1]);
      expect(pages.map((page) => page.value(success, app))).toEqual([0, 1, 1]);
    });
  });

  it(
    'fails with as many rows as New Relic returns at most, though the sum agrees',
    slow,
    async () => {
      const when = { part: 'hosts', fromMs: 2 * minuteMs, untilMs: 3 * minuteMs } as const;
      const fault: Change = ({ results }) => {
        const [{ appId } = { appId: '' }] = results;
        for (let index = results.length; index < maxRows; index += 1) {
          const host = `unseen-${index}`;
          results.push({ facet: [appId, host], appId, host, calls: 0, live: 1, c1: null });
        }
      };
      const options = { source, entries, simulator: { fleet }, ...misleading(fault, when) };
      await withTimedFaults(options, async (bench) => {
        await bench.advance(2 * minuteMs - 1);
        const before = await bench.scrape();
        const [held, after] = await pagesOf(bench, 2);

        const { name } = parts.hosts;
        const failed = { ...production, operation: 'host_metrics', reason: 'too_large' };
        expect(before.series(name, production)).toHaveLength(4);
        expect(held?.series(name, production)).toEqual(before.series(name, production));
        expect(held?.value(failures, failed)).toBe(1);
        expect(held?.value(success, app)).toBe(0);
        expect(after?.value(success, app)).toBe(1);
      });
    },
  );

  it.each<{ what: string; fault: Fault }>([
    { what: 'a message', fault: { kind: 'messages', message: 'may be incomplete' } },
    {
      what: 'the notice that a field is deprecated',
      fault: { kind: 'warning', message: 'This field is deprecated! It may be incomplete.' },
    },
  ])('is not one that has $what beside all its rows: that is told once', async ({ fault }) => {
    const script = [{ when: { operation: 'nrql' }, fault }] as const;
    const options = { source, entries, simulator: { fleet }, script };
    await withTimedFaults(options, async (bench) => {
      await bench.advance(minuteMs);
      const pages = await pagesOf(bench, 5);

      const last = pages.at(-1);
      expectFresh(pages, 'applications');
      expectFresh(pages, 'hosts');
      for (const page of pages) expect(page.value(success, app)).toBe(1);
      expect(last?.total(failures, production)).toBe(0);
      expect(last?.total(unexpected, production)).toBe(0);
      const told = bench.logs('New Relic has a notice on an answer');
      expect(told).toHaveLength(1);
      expect(JSON.stringify(told[0])).toContain('may be incomplete');
    });
  });
});
