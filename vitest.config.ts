import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { testGroups } from './test/support/test-groups.ts';

/** These limits only end a test that hangs: it must have time on a machine that is busy. */
const hangsAfterMs = 600_000;

const config: ViteUserConfig = defineConfig({
  test: {
    // Without it Vitest leaves one core to itself: half of a machine that has two.
    maxWorkers: '100%',
    tags: [{ name: 'slow', description: 'says more of what a faster test says; not in npm test' }],
    projects: testGroups.map(({ name, include, exclude }) => ({
      extends: true,
      test: {
        name,
        include: [...include],
        exclude: [...exclude],
        testTimeout: hangsAfterMs,
        hookTimeout: hangsAfterMs,
        // No module has state, so files can share a process. What measures its memory has one of its own.
        isolate: name === 'long',
      },
    })),
  },
});
export default config;
