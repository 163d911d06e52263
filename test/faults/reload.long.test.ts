import { expect, it } from 'vitest';
import { expectMovedAndBack } from './reload-bench.ts';

it('a reload that moves an account to the other API and back shows each host under one id at a time, when answers come at once', async () => {
  await expect(expectMovedAndBack(0)).resolves.toBeUndefined();
});
