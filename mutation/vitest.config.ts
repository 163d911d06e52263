import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { testGroups } from '../test/support/test-groups.ts';

/** They enter the program from outside: the whole daemon, its pages, its commands, its configuration. */
const seams = 'config,daemon,faults,properties,publish,simulated,tools';
const [quick] = testGroups;

/** What reads the source as text, or runs the program that was built before, notices no change. */
const config: ViteUserConfig = defineConfig({
  test: {
    include:
      process.env['MUTATION_TESTS'] === 'seams'
        ? [`test/{${seams}}/**/*.test.ts`, 'test/web/*.test.ts']
        : ['test/**/*.test.ts'],
    exclude: [...(quick?.exclude ?? []), 'test/{architecture,docs,e2e}/**'],
    testTimeout: 60_000,
  },
});
export default config;
