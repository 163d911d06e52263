import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { testGroups } from './test/support/test-groups.ts';

/** These limits only end a test that hangs: it must have time on a machine that is busy. */
const hangsAfterMs = 600_000;

/**
 * Each test makes the program anew and leaves it after some seconds. V8 of Node 20 optimizes the same functions for
 * each of them, in threads that take a third of all CPU time, and copies what lives as long as a test many times.
 */
const v8Flags = process.versions.node.startsWith('20.')
  ? ['--interrupt-budget=1000000', '--max-semi-space-size=32']
  : [];

const config: ViteUserConfig = defineConfig({
  test: {
    // Without it Vitest leaves one core to itself: half of a machine that has two.
    maxWorkers: '100%',
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
        // The others measure what is shipped, as V8 runs it by itself.
        execArgv: name === 'quick' ? v8Flags : [],
      },
    })),
  },
});
export default config;
