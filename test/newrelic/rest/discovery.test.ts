import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import type { Clock } from '../../../src/model/clock.ts';
import type { ApiResponse, Transport } from '../../../src/newrelic/calls/transport.ts';
import { discoverWithin } from '../../../src/poll/discovery-state.ts';
import { aContext } from '../../support/a-context.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { answerOf, createFakeTransport } from '../../support/fake-transport.ts';
import {
  appsOf,
  byIds,
  byName,
  discover,
  filtered,
  list,
  noKey,
  serverError,
} from './a-discovery.ts';
import { aRestSource } from './a-rest-source.ts';

describe('a discovery by ids alone', () => {
  it('asks for them in one call', async () => {
    const found = await discover(byIds('1', '2', '1'), {
      [filtered('1', '2')]: appsOf(['2', '1']),
    });

    expect(found).toMatchObject({ ids: ['2', '1'], complete: true, error: undefined });
  });

  it('asks for 200 ids in a call', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => String(index + 1));
    const parts = [ids.slice(0, 200), ids.slice(200, 400), ids.slice(400)];

    const found = await discover(
      byIds(...ids),
      Object.fromEntries(parts.map((part) => [filtered(...part), appsOf(part)])),
    );

    expect(found).toMatchObject({ ids, complete: true, calls: 3 });
  });

  it('asks for each id that was left out alone before it counts as missing', async () => {
    const found = await discover(byIds('1', '2', '3', '4'), {
      [filtered('1', '2', '3', '4')]: appsOf(['3']),
      [filtered('1')]: appsOf(['1']),
      [filtered('2')]: appsOf([]),
      [filtered('4')]: answerOf('{}', { status: 404 }),
    });

    expect(found).toMatchObject({ ids: ['3', '1'], complete: true, error: undefined });
  });

  it('never asks for an id that is not a number', async () => {
    const found = await discover(byIds('1', 'x/..'), { [filtered('1')]: appsOf(['1']) });

    expect(found).toMatchObject({ ids: ['1'], complete: true });
  });
});

describe('a discovery by names', () => {
  it.each([
    { what: 'a name', selectors: [byName] },
    { what: 'a pattern', selectors: [{ kind: 'match', pattern: /a/ } as const] },
    { what: 'a name beside an id', selectors: [...byIds('1'), byName] },
    { what: 'no selector at all', selectors: [] },
  ])('($what) reads the list of the whole account', async ({ selectors }) => {
    const found = await discover(selectors, { [list]: appsOf(['1', '2']) });

    expect(found).toMatchObject({ ids: ['1', '2'], complete: true });
  });

  it('reads all pages; if an application is on two pages, the first one counts', async () => {
    const twice = {
      applications: [
        { id: 1, name: 'renamed' },
        { id: 3, name: 'app 3' },
      ],
    };
    const transport = createFakeTransport({
      [list]: appsOf(['1', '2'], { link: '</x?page=2>; rel="next"' }),
      [`${list}?page=2`]: answerOf(
        { applications: [] },
        { headers: { link: '<?page=3>; rel=next' } },
      ),
      [`${list}?page=3`]: answerOf(twice),
    });
    const { source, signal } = aRestSource(transport.send);

    const { applications, complete } = await source.discover({ selectors: [byName] }, [], signal);

    expect(applications.map(({ name }) => name)).toEqual(['app 1', 'app 2', 'app 3']);
    expect(complete).toBe(true);
  });

  it('reads on through pages of which only the ids can be read', async () => {
    const nameless = (id: number, page: number): ApiResponse =>
      answerOf({ applications: [{ id }] }, { headers: { link: `<?page=${page}>; rel="next"` } });

    const found = await discover([byName], {
      [list]: nameless(1, 2),
      [`${list}?page=2`]: nameless(2, 3),
      [`${list}?page=3`]: appsOf(['3']),
    });

    expect(found).toMatchObject({ ids: ['3'], complete: true, unreadableIds: ['1', '2'] });
  });
});

describe('a discovery that fails', () => {
  it('keeps what was read before the page that failed, and asks for no single ids', async () => {
    const found = await discover([byName, ...byIds('9')], {
      [list]: appsOf(['1'], { link: '<?page=2>; rel="next"' }),
      [`${list}?page=2`]: answerOf('<html>', { status: 200 }),
    });

    expect(found).toMatchObject({ ids: ['1'], complete: false, error: { reason: 'not_json' } });
  });

  it('ends at once when the key is refused', async () => {
    const ids = Array.from({ length: 201 }, (_, index) => String(index + 1));

    const found = await discover(byIds(...ids), { [filtered(...ids.slice(0, 200))]: noKey });

    expect(found).toMatchObject({ ids: [], complete: false, calls: 1, error: { reason: 'auth' } });
  });

  it('goes on with the other ids after a failure of the vendor', async () => {
    const ids = Array.from({ length: 201 }, (_, index) => String(index + 1));

    const found = await discover(byIds(...ids), {
      [filtered(...ids.slice(0, 200))]: serverError,
      [filtered('201')]: appsOf(['201']),
    });

    expect(found).toMatchObject({ ids: ['201'], complete: false, error: { reason: 'server' } });
  });

  it.each<{ reason: FailureReason; calls: number }>([
    { reason: 'dns', calls: 1 },
    { reason: 'connect', calls: 1 },
    { reason: 'tls', calls: 1 },
    { reason: 'throttled', calls: 1 },
    { reason: 'redirect', calls: 1 },
    { reason: 'timeout', calls: 2 },
    { reason: 'reset', calls: 2 },
  ])('makes $calls calls of two when the first fails by $reason', async ({ reason, calls }) => {
    const failure = new ApiError(reason, 'no answer');
    const ids = Array.from({ length: 201 }, (_, index) => String(index + 1));
    const transport = createFakeTransport({
      [filtered(...ids.slice(0, 200))]: failure,
      [filtered('201')]: appsOf(['201']),
    });
    const { source, signal } = aRestSource(transport.send);

    const discovery = await source.discover({ selectors: byIds(...ids) }, [], signal);

    expect(discovery).toMatchObject({ complete: false, error: failure });
    expect(transport.calls).toHaveLength(calls);
  });

  it('rejects with the reason of an abort, even if the call ended with an ApiError', async () => {
    const reason = new Error('shutting down');
    const controller = new AbortController();
    const { source } = aRestSource(async () => {
      controller.abort(reason);
      throw new ApiError('timeout', 'no answer in time');
    });

    await expect(source.discover({ selectors: [byName] }, [], controller.signal)).rejects.toBe(
      reason,
    );
  });

  it('does not swallow a bug of this program', async () => {
    const mistake = new TypeError('undefined is not a function');
    const { source, signal } = aRestSource(async () => {
      throw mistake;
    });

    await expect(source.discover({ selectors: [byName] }, [], signal)).rejects.toBe(mistake);
  });
});

const deadline = new ApiError('timeout', 'the discovery did not end within 120 s');
const perPage = 200;

/** Serves the pages of a list, each after `pageMs`. Obeys its signal like a transport. */
function slowPages(clock: Clock, pages: number, pageMs: number): Transport {
  return async ({ target }, signal) => {
    const page = Number(new URL(target, 'http://vendor').searchParams.get('page') ?? '1');
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        cancel();
        reject(signal.reason as Error);
      };
      const cancel = clock.after(pageMs, () => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
      signal.addEventListener('abort', stop);
    });
    const first = (page - 1) * perPage;
    const ids = Array.from({ length: perPage }, (_, index) => String(first + index + 1));
    const next = `</v2/applications.json?page=${page + 1}>; rel="next"`;
    return appsOf(ids, page < pages ? { link: next } : {});
  };
}

describe('a discovery that reaches its deadline', () => {
  it('keeps what it has, counts its calls, and has the deadline as its error', async () => {
    const controller = new AbortController();
    const { source } = aRestSource(async ({ target }, signal) => {
      if (target.includes('page=2')) controller.abort(deadline);
      signal.throwIfAborted();
      return appsOf(['1', '2'], { link: '<?page=2>; rel="next"' });
    });

    const found = await source.discover(
      { selectors: [byName, ...byIds('8')] },
      ['5'],
      controller.signal,
    );

    expect(found).toMatchObject({ complete: false, calls: 2, pendingIds: ['8'] });
    expect(found.applications.map(({ id }) => id)).toEqual(['1', '2']);
    expect(found.error).toBe(deadline);
  });

  it('has the deadline as its error even if a call had failed before, and asks nothing more', async () => {
    const controller = new AbortController();
    const asked: string[] = [];
    const { source } = aRestSource(async ({ target }) => {
      asked.push(target);
      if (asked.length === 2) controller.abort(deadline);
      return asked.length === 1 ? serverError : appsOf(['201']);
    });
    const ids = Array.from({ length: 601 }, (_, index) => String(index + 1));

    const found = await source.discover({ selectors: byIds(...ids) }, [], controller.signal);

    expect(asked).toHaveLength(2);
    expect(found).toMatchObject({ applications: [{ id: '201' }], complete: false, calls: 2 });
    expect(found.error).toBe(deadline);
  });

  it('rejects if it was aborted for another reason between two calls', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const { source } = aRestSource(async () => {
      controller.abort(reason);
      return appsOf(['1']);
    });

    const discovery = source.discover({ selectors: byIds('1', '2') }, [], controller.signal);

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

    const asking = aContext({ source, clock });
    const discovery = discoverWithin(120_001, asking, { selectors: [byName] }, [], signal);
    await clock.advance(120_001);

    const { applications, complete, calls, error } = await discovery;
    expect(applications).toHaveLength(row.found);
    expect({ complete, calls }).toEqual({ complete: row.complete, calls: row.calls });
    expect(error instanceof ApiError ? error.reason : error).toBe(row.reason);
    expect(clock.pendingTimers()).toBe(0);
  });
});
