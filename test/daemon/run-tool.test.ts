import { describe, expect, it } from 'vitest';
import { runTool } from '../../src/daemon/run-tool.ts';

const env = { PATH: '/usr/bin:/bin' };

describe('runTool', () => {
  it('resolves when the program has ended well', async () => {
    await expect(runTool('true', [], { env, timeoutMs: 60_000 })).resolves.toBeUndefined();
  });

  it.each([
    { file: 'no-such-tool', args: [], timeoutMs: 60_000, says: 'there is no such program' },
    { file: 'sleep', args: ['60'], timeoutMs: 50, says: 'no end after 0.05 s' },
    { file: 'false', args: [], timeoutMs: 60_000, says: 'failed with 1' },
    { file: 'sh', args: ['-c', 'kill $$'], timeoutMs: 60_000, says: 'ended by SIGTERM' },
    {
      file: 'sh',
      args: ['-c', 'echo no bus >&2; echo more >&2; exit 3'],
      timeoutMs: 60_000,
      says: 'no bus',
    },
  ])('says what went wrong: $says', async ({ file, args, timeoutMs, says }) => {
    await expect(runTool(file, args, { env, timeoutMs })).rejects.toThrow(`${file}: ${says}`);
  });

  it('gives the program no other variables', async () => {
    const args = ['-c', 'test "$A" = 1 && test -z "$HOME"'];

    await expect(
      runTool('sh', args, { env: { ...env, A: '1' }, timeoutMs: 60_000 }),
    ).resolves.toBeUndefined();
  });
});
