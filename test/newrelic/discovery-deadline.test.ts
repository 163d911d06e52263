import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Clock } from '../../src/model/clock.ts';
import { discoverWithin } from '../../src/poller/discovery-state.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { appsOf, byIds, byName, serverError } from './a-discovery.ts';
import { aRestSource } from './a-rest-source.ts';

const deadline = new ApiError('timeout', 'the discovery did not end within 120 s');
const perPage = 200;

/** Gives the pages of a list, each after so long; obeys its signal as a transport does. */
function slowPages(clock: Clock, pages: number, pageMs: number): Transport {
  return async ({ target }, signal) => {
    const page = Number(new URL(target, 'http://vendor').searchParams.get('page') ?? '1');
    await new Promise<void>((resolve, reject) => {
      const cancel = clock.after(pageMs, resolve);
      signal.addEventListener('abort', () => {
        cancel();
        reject(signal.reason as Error);
      });
    });
    const first = (page - 1) * perPage;
    const ids = Array.from({ length: perPage }, (_, index) => String(first + index + 1));
    const next = `</v2/applications.json?page=${page + 1}>; rel="next"`;
    return appsOf(ids, page < pages ? { link: next } : {});
  };
}

describe('a discovery whose deadline strikes', () => {
  it('keeps what it has, counts its calls and gives the deadline as its error', async () => {
    const controller = new AbortController();
    const { source } = aRestSource(async ({ target }, signal) => {
      if (target.includes('page=2')) controller.abort(deadline);
      signal.throwIfAborted();
      return appsOf(['1', '2'], { link: '<?page=2>; rel="next"' });
    });

    const found = await source.discover([byName, ...byIds('8')], ['5'], controller.signal);

    expect(found).toMatchObject({ complete: false, calls: 2, pendingIds: ['8'] });
    expect(found.applications.map(({ id }) => id)).toEqual(['1', '2']);
    expect(found.error).toBe(deadline);
  });

  it('gives the deadline even if a call had failed before, and asks nothing more', async () => {
    const controller = new AbortController();
    const asked: string[] = [];
    const { source } = aRestSource(async ({ target }) => {
      asked.push(target);
      if (asked.length === 2) controller.abort(deadline);
      return asked.length === 1 ? serverError : appsOf(['201']);
    });
    const ids = Array.from({ length: 601 }, (_, index) => String(index + 1));

    const found = await source.discover(byIds(...ids), [], controller.signal);

    expect(asked).toHaveLength(2);
    expect(found).toMatchObject({ applications: [{ id: '201' }], complete: false, calls: 2 });
    expect(found.error).toBe(deadline);
  });

  it('is incomplete even if no call of it has failed', async () => {
    const controller = new AbortController();
    const { source } = aRestSource(async () => {
      controller.abort(deadline);
      return appsOf(['1']);
    });

    const found = await source.discover(byIds('1', '2'), [], controller.signal);

    expect(found).toMatchObject({ applications: [{ id: '1' }], complete: false, calls: 1 });
    expect(found).toMatchObject({ pendingIds: ['2'], error: deadline });
  });

  it('rejects when it was aborted for another reason between two calls', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const { source } = aRestSource(async () => {
      controller.abort(reason);
      return appsOf(['1']);
    });

    const discovery = source.discover(byIds('1', '2'), [], controller.signal);

    await expect(discovery).rejects.toBe(reason);
  });
});

describe('a list of 110 pages', () => {
  it.each([
    { pageMs: 1000, found: 22_000, complete: true, calls: 110, reason: undefined },
    { pageMs: 1200, found: 20_000, complete: false, calls: 101, reason: 'timeout' },
  ])('within two minutes, at $pageMs ms a page, gives $found', async (row) => {
    const clock = createFakeClock();
    const { source, signal } = aRestSource(slowPages(clock, 110, row.pageMs), { clock });

    const discovery = discoverWithin(120_001, { source, clock }, [byName], [], signal);
    await clock.advance(120_001);

    const { applications, complete, calls, error } = await discovery;
    expect(applications).toHaveLength(row.found);
    expect({ complete, calls }).toEqual({ complete: row.complete, calls: row.calls });
    expect(error instanceof ApiError ? error.reason : error).toBe(row.reason);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('is complete at 1200 ms a page within twice the time', async () => {
    const clock = createFakeClock();
    const { source, signal } = aRestSource(slowPages(clock, 110, 1200), { clock });

    const discovery = discoverWithin(240_000, { source, clock }, [byName], [], signal);
    await clock.advance(240_000);

    await expect(discovery).resolves.toMatchObject({ complete: true, calls: 110 });
  });
});
