import { expect, it } from 'vitest';
import { createMinuteCounter } from '../../src/simulator/minute-counter.ts';
import { createFakeClock } from '../support/fake-clock.ts';

it('counts names in windows of a minute, whatever the wall clock does', async () => {
  const clock = createFakeClock();
  await clock.advance(45_000);
  const counter = createMinuteCounter({ clock });

  const counts = [counter.add('a'), counter.add('b'), counter.add('a')];
  await clock.advance(59_999);
  clock.jumpWall(3_600_000);
  counts.push(counter.add('a'));
  await clock.advance(1);
  counts.push(counter.add('a'), counter.add('b'));

  expect(counts).toEqual([1, 1, 2, 3, 1, 1]);
});
