import { expect, it } from 'vitest';
import { expectOnce, expectScrapedToTheEnd } from './lifecycle-bench.ts';

it('9 the daemon answers scrapes until the end and leaves with 0 on SIGINT, although the vendor hangs', async () => {
  await expect(expectScrapedToTheEnd('SIGINT')).resolves.toBeUndefined();
});

it('once prints the exposition and leaves with 1 when a configured application is missing', async () => {
  await expect(expectOnce({ app: 'id: 999', code: 1, missing: true })).resolves.toBeUndefined();
});
