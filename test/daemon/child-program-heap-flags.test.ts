import { describe, expect, it } from 'vitest';
import { heapFlags } from '../../src/daemon/child-program.ts';

const mebibyte = 1024 ** 2;

describe('heapFlags', () => {
  it.each([
    {
      what: 'the container of the chart',
      memoryMb: 192,
      heapMb: 259,
      flags: ['--max-old-space-size=96'],
    },
    { what: 'a small container', memoryMb: 128, heapMb: 259, flags: ['--max-old-space-size=64'] },
    { what: 'a container that is large enough', memoryMb: 1024, heapMb: 512, flags: [] },
    { what: 'a tiny container', memoryMb: 1, heapMb: 259, flags: ['--max-old-space-size=1'] },
    { what: 'no limit', memoryMb: 0, heapMb: 4144, flags: [] },
    { what: 'no limit, as cgroup v1 says it', memoryMb: 2 ** 44, heapMb: 4144, flags: [] },
  ])('give the heap half of the memory of $what', ({ memoryMb, heapMb, flags }) => {
    const facts = {
      memoryBytes: memoryMb * mebibyte,
      heapLimitBytes: heapMb * mebibyte,
      given: '',
    };

    expect(heapFlags(facts)).toEqual(flags);
  });

  it.each([
    '--max-old-space-size=100',
    '--enable-source-maps --max_old_space_size=100',
    '--max-heap-size=100',
  ])('never override what was given: %s', (given) => {
    const facts = { memoryBytes: 192 * mebibyte, heapLimitBytes: 259 * mebibyte, given };

    expect(heapFlags(facts)).toEqual([]);
  });

  it('are not kept from a process that was given other flags', () => {
    const given = '--max-semi-space-size=4 --enable-source-maps';

    expect(
      heapFlags({ memoryBytes: 192 * mebibyte, heapLimitBytes: 259 * mebibyte, given }),
    ).toHaveLength(1);
  });
});
