import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { aBench, all, anApp, factsOfAll, known, only, valuesIn } from './completing-bench.ts';
import { polled } from './metric-vendor.ts';

describe('a call for one metric alone that fails', () => {
  it.each([
    { reason: 'throttled', status: 429 },
    { reason: 'server', status: 503 },
  ] as const)('fails what it was for, and nothing else: $reason', async ({ reason, status }) => {
    const error = new ApiError(reason, 'no', { status });
    const { source } = aBench(({ hostId, names }) =>
      names.length === 1 && hostId === '11' ? error : 'others_missing',
    );

    const outcome = await only(polled(source, [anApp('1', ['11', '12'])]));

    expect(valuesIn(outcome)).toEqual(all);
    expect(outcome.error).toBe(error);
    expect([...outcome.failed]).toEqual(['11']);
  });

  it('is tried again ten minutes later', async () => {
    const clock = createFakeClock();
    let isDown = true;
    const { source, vendor } = aBench(
      ({ names }) =>
        isDown && names.length === 1 ? new ApiError('server', 'no') : 'others_missing',
      factsOfAll,
      clock,
    );

    const outcomes = [await only(polled(source, [anApp('1')]))];
    isDown = false;
    await clock.advance(600_000);
    outcomes.push(await only(polled(source, [anApp('1')])));

    expect(outcomes.map(({ failed }) => failed.size)).toEqual([1, 0]);
    expect(outcomes.map((outcome) => valuesIn(outcome))).toEqual([{}, all]);
    expect(vendor.calls.filter(({ names }) => names.length === 1)).toHaveLength(1 + 4);
  });

  it.each([400, 404, 422])(
    'is about the metric if New Relic has just answered for the others: %i',
    async (status) => {
      const { source } = aBench(({ names }) =>
        names.join() === 'Apdex' ? new ApiError('not_found', 'no', { status }) : 'others_missing',
      );

      const outcome = await only(polled(source, [anApp('1', ['11'])]));

      const { 'Apdex score': _, ...others } = all;
      expect(outcome).toMatchObject({ failed: new Set(), gone: false, error: undefined });
      expect([valuesIn(outcome), valuesIn(outcome, '11')]).toEqual([others, others]);
    },
  );

  it('does not cost the other values for long, however often it fails', async () => {
    const clock = createFakeClock();
    const { source } = aBench(
      ({ names }) => (names.join() === 'Apdex' ? new ApiError('server', 'no') : 'answer'),
      (_call, metric) => (metric === 'Apdex' ? {} : known[metric]),
      clock,
    );
    const failures: number[] = [];
    for (let minute = 0; minute < 20; minute += 1) {
      const { failed } = await only(polled(source, [anApp('1')]));
      failures.push(failed.size);
      await clock.advance(60_000);
    }

    expect(failures.filter((failed) => failed > 0)).toHaveLength(2);
    expect(failures.slice(0, 2)).toEqual([1, 0]);
  });

  it('is over at the deadline of the poll', async () => {
    const abort = new AbortController();
    const deadline = new ApiError('timeout', 'too late');
    const { source } = aBench(({ hostId, names }) => {
      if (names.length === 1 && hostId === '11') abort.abort(deadline);
      return 'others_missing';
    });

    const { error, failed } = await only(
      polled(source, [anApp('1', ['11'])], { signal: abort.signal }),
    );

    expect(error).toBe(deadline);
    expect(failed.has('11')).toBe(true);
  });
});
