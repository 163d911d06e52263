import { describe, expect, it } from 'vitest';
import { type AccountKey, prepareAccount } from '../../src/daemon/prepare-account.ts';
import type { KeyStatus } from '../../src/model/status.ts';
import { createRedactor } from '../../src/publish/redactor.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

interface KeyBench {
  readonly provider: Promise<AccountKey>;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly redact: (text: string) => string;
  /** Replaces the content of the key file; `undefined` removes the file. */
  readonly write: (content: string | undefined) => void;
}

function aKeyBench(first: string | undefined): KeyBench {
  let content = first;
  const logger = createFakeLogger();
  const clock = createFakeClock();
  const redactor = createRedactor();
  const platform = {
    ...createFakePlatform(),
    readFile: async () => {
      if (content === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
      return new TextEncoder().encode(content);
    },
    clock,
    redactor,
  };
  const account = anAccount({ apiKey: { kind: 'file', path: '/secrets/api-key' } });
  const prepared = prepareAccount({ account, entries: [anEntry()] }, { platform, logger });
  return {
    provider: prepared.then(({ keyProvider }) => keyProvider),
    clock,
    logger,
    redact: (text) => redactor.redact(text),
    write: (next) => {
      content = next;
    },
  };
}

describe('the key of an account', () => {
  it('puts a rotated key into force, and never lets either key into a log', async () => {
    const bench = aKeyBench('old-key-0001\n');
    const provider = await bench.provider;

    bench.write('new-key-0002\n');
    const changed = await provider.reload();

    expect(changed).toBe(true);
    expect(provider.current()).toBe('new-key-0002');
    expect(bench.redact('old-key-0001 new-key-0002')).toBe('[redacted] [redacted]');
    expect(bench.logger.lines.map((line) => line.message)).toEqual(['API key changed']);
  });

  it('forgets a key an hour after it was replaced, so that rotation adds nothing for good', async () => {
    const bench = aKeyBench('rotated-key-00');
    const provider = await bench.provider;
    const keys = Array.from({ length: 30 * 24 }, (_, hour) => `rotated-key-${hour + 1}x`);
    const all = keys.join(' ');
    const known: number[] = [];

    for (const [hour, key] of keys.entries()) {
      await bench.clock.advance(3_600_000);
      bench.write(key);
      await provider.reload();
      if (hour % 24 === 23) known.push(bench.redact(all).split('[redacted]').length - 1);
    }

    expect(Math.max(...known)).toBe(2);
    expect(bench.redact(keys.at(-2) ?? '')).toBe('[redacted]');
    expect(bench.redact('rotated-key-00')).toBe('rotated-key-00');
  });

  it('says that nothing changed when the file is the same', async () => {
    const bench = aKeyBench('old-key-0001');
    const provider = await bench.provider;

    const changed = await provider.reload();

    expect(changed).toBe(false);
    expect(bench.logger.lines).toEqual([]);
  });

  it('keeps the old key while the file is gone or empty, and says so once', async () => {
    const bench = aKeyBench('old-key-0001');
    const provider = await bench.provider;

    bench.write(undefined);
    await provider.reload();
    bench.write('');
    await provider.reload();
    const kept = provider.current();
    bench.write('new-key-0002');
    await provider.reload();

    expect(kept).toBe('old-key-0001');
    expect(provider.current()).toBe('new-key-0002');
    expect(bench.logger.lines.map((line) => line.message)).toEqual(['API key changed']);
  });

  it('says where the key comes from, when it was read, and since when it cannot be read', async () => {
    const bench = aKeyBench('old-key-0001');
    const { clock } = bench;
    const provider = await bench.provider;
    const startMs = clock.wallMs();
    const seen: KeyStatus[] = [];
    for (const content of ['old-key-0001', undefined, '', 'old-key-0001', 'new-key-0002']) {
      await clock.advance(1000);
      bench.write(content);
      await provider.reload();
      seen.push(provider.status());
    }

    expect(seen.map(({ sinceMs, readMs }) => [sinceMs - startMs, readMs - startMs])).toEqual([
      [0, 0],
      [2000, 0],
      [2000, 0],
      [4000, 0],
      [4000, 5000],
    ]);
    expect(new Set(seen.map(({ location }) => location))).toEqual(
      new Set(['file /secrets/api-key']),
    );
    expect(seen.map(({ problem }) => problem?.split(':')[0])).toEqual([
      undefined,
      'the API key file /secrets/api-key does not exist',
      'the API key file /secrets/api-key is empty',
      undefined,
      undefined,
    ]);
  });

  it('cannot be created without a key', async () => {
    await expect(aKeyBench(undefined).provider).rejects.toThrow('/secrets/api-key does not exist');
  });
});
