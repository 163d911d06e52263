import { describe, expect, it } from 'vitest';
import { unsharedBytesOf } from '../../src/daemon/child-program.ts';

describe.runIf(process.platform === 'linux')('unsharedBytesOf', () => {
  it('grows with what a process allocates', () => {
    const before = unsharedBytesOf(process.pid) ?? 0;
    const held = Buffer.alloc(64 * 1024 ** 2, 1);
    const after = unsharedBytesOf(process.pid) ?? 0;

    expect(before).toBeGreaterThan(1024 ** 2);
    expect(after - before).toBeGreaterThan(0.8 * held.length);
  });

  it('knows nothing of a process that there is not', () => {
    expect(unsharedBytesOf(2 ** 22 + 1)).toBeUndefined();
  });
});
