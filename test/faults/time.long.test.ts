import { describe, expect, it } from 'vitest';
import { sources } from './sources.ts';
import { beforeDiscoveryMs, betweenDiscoveriesMs, expectSameRhythm } from './wall-clock.ts';

describe.each(sources)('$name', (source) => {
  it.each([
    { hours: 1, jumpAtMs: betweenDiscoveriesMs },
    { hours: -1, jumpAtMs: beforeDiscoveryMs },
    { hours: 24, jumpAtMs: betweenDiscoveriesMs },
  ])(
    'a wall clock that jumps by $hours h at $jumpAtMs ms changes neither the rhythm of the polls nor what is held',
    async (jump) => {
      await expect(expectSameRhythm(source, jump)).resolves.toBeUndefined();
    },
  );
});
