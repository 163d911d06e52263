import { describe, expect, it } from 'vitest';
import { createCallTimes } from '../../src/poller/call-times.ts';
import { createJobPlaces, type JobPlaces, type PlaceTaken } from '../../src/poller/job-places.ts';

const slowMs = 1001;

function aJob({ concurrency = 8, wasDoubtful = false } = {}): JobPlaces {
  return createJobPlaces({ concurrency, wasDoubtful }, createCallTimes());
}

/** Starts as many calls as there is room for. */
function fill(places: JobPlaces, nowMs: number): PlaceTaken[] {
  const taken: PlaceTaken[] = [];
  while (places.hasRoom(nowMs)) taken.push(places.start(nowMs));
  return taken;
}

function answer(taken: readonly PlaceTaken[], nowMs: number): void {
  for (const place of taken) place.ended(nowMs);
}

describe('createJobPlaces', () => {
  it('begins with two calls and gets more with every answer, up to the concurrency', () => {
    const places = aJob();

    const sizes = [0, 200, 400, 600].map((nowMs) => {
      const taken = fill(places, nowMs);
      answer(taken, nowMs + 200);
      return taken.length;
    });

    expect(sizes).toEqual([2, 4, 8, 8]);
  });

  it('never has more than the concurrency, slow calls included', () => {
    const places = aJob({ concurrency: 1 });

    fill(places, 0);

    expect(places.running()).toBe(1);
    expect(fill(places, slowMs)).toEqual([]);
  });

  it('loses half of the places for each slow call, as long as others are answered', () => {
    const places = aJob();
    answer(fill(places, 0), 200);
    answer(fill(places, 200), 400);
    const [hanging, ...others] = fill(places, 400);
    answer(others, 600);

    const room = fill(places, 400 + slowMs).length;

    expect(hanging).toBeDefined();
    expect(places.isDoubtful(400 + slowMs)).toBe(false);
    expect(places.slow(400 + slowMs)).toBe(1);
    expect(room).toBe(4);
  });

  it('is in doubt when nothing was answered since a call began that is slow', () => {
    const places = aJob();
    fill(places, 0);

    const doubtful = [slowMs - 1, slowMs].map((nowMs) => places.isDoubtful(nowMs));

    expect(doubtful).toEqual([false, true]);
    expect(places.hasRoom(slowMs)).toBe(false);
  });

  it('stays in doubt when the slow call has ended, with one call at a time, until one is answered', () => {
    const places = aJob();
    answer(fill(places, 0), 30_000);

    const probe = fill(places, 30_000);
    const isDoubtful = places.isDoubtful(30_000);
    answer(probe, 30_200);

    expect(probe).toHaveLength(1);
    expect(isDoubtful).toBe(true);
    expect(places.isDoubtful(30_200)).toBe(false);
  });

  it('begins with one call when the job before it ended in doubt', () => {
    const places = aJob({ wasDoubtful: true });

    expect(fill(places, 0)).toHaveLength(1);
    expect(places.isDoubtful(0)).toBe(true);
  });

  it('learns nothing from a call that is given up soon', () => {
    const doubtful = aJob({ wasDoubtful: true });
    const fresh = aJob();

    doubtful.start(0).givenUp(200);
    fresh.start(0).givenUp(200);

    expect([doubtful.isDoubtful(200), fresh.isDoubtful(200)]).toEqual([true, false]);
    expect([doubtful.running(), fresh.running()]).toEqual([0, 0]);
  });

  it('is in doubt after a call was given up that was slow by then', () => {
    const places = aJob();

    places.start(0).givenUp(slowMs);

    expect(places.isDoubtful(slowMs)).toBe(true);
  });
});
