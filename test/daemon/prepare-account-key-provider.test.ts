import { describe, expect, it } from 'vitest';
import { createKeyProvider } from '../../src/daemon/prepare-account.ts';
import { createRedactor } from '../../src/telemetry/redactor.ts';
import type { KeyProvider } from '../../src/transport/transport.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';

interface Bench {
  readonly provider: Promise<KeyProvider>;
  readonly logger: FakeLogger;
  readonly redact: (text: string) => string;
  /** Replaces the content of the key file; `undefined` removes the file. */
  readonly write: (content: string | undefined) => void;
}

function aBench(first: string | undefined): Bench {
  let content = first;
  const logger = createFakeLogger();
  const redactor = createRedactor();
  const provider = createKeyProvider(
    { account: 'production', location: { kind: 'file', path: '/secrets/api-key' } },
    {
      readFile: async () => {
        if (content === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
        return new TextEncoder().encode(content);
      },
      env: {},
      redactor,
      logger,
    },
  );
  return {
    provider,
    logger,
    redact: (text) => redactor.redact(text),
    write: (next) => {
      content = next;
    },
  };
}

describe('createKeyProvider', () => {
  it('takes a rotated key into force, and never lets either of them into a log', async () => {
    const bench = aBench('old-key-0001\n');
    const provider = await bench.provider;

    bench.write('new-key-0002\n');
    const changed = await provider.reload();

    expect(changed).toBe(true);
    expect(provider.current()).toBe('new-key-0002');
    expect(bench.redact('old-key-0001 new-key-0002')).toBe('[redacted] [redacted]');
    expect(bench.logger.lines.map((line) => line.message)).toEqual(['API key changed']);
  });

  it('says that nothing changed when the file is the same', async () => {
    const bench = aBench('old-key-0001');
    const provider = await bench.provider;

    const changed = await provider.reload();

    expect(changed).toBe(false);
    expect(bench.logger.lines).toEqual([]);
  });

  it('keeps the old key while the file is gone or empty, and says so once', async () => {
    const bench = aBench('old-key-0001');
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
    expect(bench.logger.lines.map((line) => line.message)).toEqual([
      'API key not readable, keeping the old',
      'API key changed',
    ]);
  });

  it('is not made without a key', async () => {
    await expect(aBench(undefined).provider).rejects.toThrow('/secrets/api-key does not exist');
  });
});
