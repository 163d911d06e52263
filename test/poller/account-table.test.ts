import { describe, expect, it } from 'vitest';
import { anEntry } from '../support/builders.ts';
import {
  aTable,
  failed,
  found,
  pollAll,
  publishedIds,
  shop,
  signal,
} from '../support/table-bench.ts';

describe('AccountTable, when a discovery ended', () => {
  it.each([
    { what: 'nothing, if nothing changed', next: found(shop('1'), shop('2')), published: [] },
    {
      what: 'nothing, if the list comes in another order',
      next: found(shop('2'), shop('1')),
      published: [],
    },
    {
      what: 'only the application with another name',
      next: found(shop('1', { name: 'renamed' }), shop('2')),
      published: ['1'],
    },
    {
      what: 'only the application with another summary',
      next: found(shop('1'), shop('2', { summary: undefined })),
      published: ['2'],
    },
    {
      what: 'only the application with fewer hosts',
      next: found(shop('1'), shop('2', {}, 2)),
      published: ['2'],
    },
    {
      what: 'only a new application',
      next: found(shop('1'), shop('2'), shop('3')),
      published: ['3'],
    },
    { what: 'nothing, if one is gone', next: found(shop('1')), published: [] },
    { what: 'nothing, if the discovery found nothing', next: failed(), published: [] },
    {
      what: 'what a part of a list has changed',
      next: failed(shop('2', { healthStatus: 'red' })),
      published: ['2'],
    },
  ])('publishes $what', async ({ next, published }) => {
    const bench = aTable();
    await bench.table.discovered(found(shop('1'), shop('2')), signal);
    pollAll(bench);
    publishedIds(bench);

    await bench.table.discovered(next, signal);

    expect(publishedIds(bench)).toEqual(published);
  });

  it('publishes each application once more when the discovery becomes stale, and when it is back', async () => {
    const bench = aTable({ entries: [anEntry({ poll: { staleAfterMs: 120_000 } })] });
    await bench.table.discovered(found(shop('1'), shop('2')), signal);
    publishedIds(bench);
    const counts: number[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      await bench.table.discovered(failed(), signal);
      counts.push(publishedIds(bench).length);
      await bench.clock.advance(60_000);
    }

    await bench.table.discovered(found(shop('1'), shop('2')), signal);

    expect(counts).toEqual([0, 0, 2, 0, 0]);
    expect(publishedIds(bench)).toEqual(['1', '2']);
  });

  it('lets other work have its turn when much has changed, and is done soon after', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    await bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))), signal);
    pollAll(bench);
    publishedIds(bench);

    await bench.table.discovered(
      found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))),
      signal,
    );
    const atOnce = publishedIds(bench).length;
    await bench.clock.advance(0);
    const inAll = atOnce + publishedIds(bench).length;

    expect(atOnce).toBe(3);
    expect(inAll).toBe(10);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('removes at once what is gone, however much else has changed, and never brings it back', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    await bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))), signal);
    pollAll(bench);
    await bench.table.discovered(
      found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))),
      signal,
    );

    await bench.table.discovered(found(shop('1', { name: 'renamed' }, 400)), signal);
    const left = [...bench.sink.apps.keys()];
    await bench.clock.advance(0);

    expect(left).toEqual(['1']);
    expect([...bench.sink.apps.keys()]).toEqual(['1']);
  });

  it('publishes nothing more once it was stopped', async () => {
    const bench = aTable();
    const ids = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
    await bench.table.discovered(found(...ids.map((id) => shop(id, {}, 400))), signal);
    pollAll(bench);
    await bench.table.discovered(
      found(...ids.map((id) => shop(id, { name: 'renamed' }, 400))),
      signal,
    );
    publishedIds(bench);

    bench.table.stop();
    await bench.clock.advance(0);

    expect(publishedIds(bench)).toEqual([]);
  });

  it('plans for the hosts that there are now', async () => {
    const bench = aTable();
    await bench.table.discovered(found(shop('1')), signal);
    const before = bench.table.plan;
    await bench.table.discovered(found(shop('1')), signal);
    const unchanged = bench.table.plan;

    await bench.table.discovered(found(shop('1', {}, 9)), signal);

    expect(unchanged).toEqual(before);
    expect([before.hosts, bench.table.plan.hosts]).toEqual([3, 9]);
    expect([before.demandPerMinute, bench.table.plan.demandPerMinute]).toEqual([5, 11]);
  });
});
