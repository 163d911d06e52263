import { expect, it } from 'vitest';
import { expectLabelled } from './reload-bench.ts';

it.each([1, 3, 5])(
  'a reload while a long list of applications is taken in gives its labels to all of them: %i turns after the last page',
  async (turns) => {
    await expect(expectLabelled(turns)).resolves.toBeUndefined();
  },
);
