import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** The unit tests: what only the whole daemon notices does not count as tested here. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: [
      'test/{exposition,model,nerdgraph,newrelic,poller,rate-limit,rest,transport}/**/*.test.ts',
      'test/daemon/{prepare-account*,reloader*,supervisor*}.test.ts',
    ],
    testTimeout: 30_000,
  },
});
export default config;
