import { describe, expect, it } from 'vitest';
import { msUntilEnd, startDaemon, until } from '../support/daemon-process.ts';
import { slow } from '../support/slow.ts';
import { expectOnce, expectScrapedToTheEnd } from './lifecycle-bench.ts';

describe('9 the daemon, when it is asked to stop', () => {
  it('leaves at once with 0 while it waits for its configuration', slow, async () => {
    const daemon = await startDaemon(['--config.wait', '--config.file=/nowhere/config.yaml']);
    await until(() => (daemon.stderr().includes('no usable configuration') ? true : undefined));
    daemon.child.kill('SIGTERM');
    const tookMs = await msUntilEnd(daemon);
    const { code } = await daemon.ended;

    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(2000);
  });

  it('answers scrapes until the end and leaves with 0 on SIGTERM, although the vendor hangs', async () => {
    await expect(expectScrapedToTheEnd('SIGTERM')).resolves.toBeUndefined();
  });
});

describe('once', () => {
  it('prints the exposition and leaves with 0 when everything arrives', async () => {
    const asked = { app: 'id: 101', code: 0, missing: false };

    await expect(expectOnce(asked)).resolves.toBeUndefined();
  });
});
