import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../../src/daemon/platform.ts';
import {
  accountsInUse,
  type PreparedAccount,
  prepareAccount,
} from '../../src/daemon/prepare-account.ts';
import type { AccountConfig } from '../../src/model/config.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';

describe('accountsInUse', () => {
  it('gives each account its entries, both in the order of the configuration', () => {
    const accounts = ['a', 'b', 'c'].map((name) => anAccount({ name }));
    const apps = ['c', 'a', 'c'].map((account, index) =>
      anEntry({ account, selector: { kind: 'id', id: String(index) } }),
    );

    expect(accountsInUse({ accounts, apps })).toEqual([
      { account: accounts[0], entries: [apps[1]], queries: [] },
      { account: accounts[2], entries: [apps[0], apps[2]], queries: [] },
    ]);
  });
});

const [firstCa = '', secondCa = ''] = rootCertificates;

interface Bench {
  readonly platform: FakePlatform;
  readonly files: Record<string, string>;
  /** Paths in the order in which they were read. */
  readonly read: string[];
  /** From now on no file can be read. */
  readonly fail: (code: string) => void;
  readonly prepare: (
    account: Partial<AccountConfig>,
    previous?: PreparedAccount,
  ) => Promise<PreparedAccount>;
}

function aBench(): Bench {
  const files: Record<string, string> = { '/key': 'NRAK-FILED', '/ca.pem': firstCa };
  const read: string[] = [];
  let failure: string | undefined;
  const fake = createFakePlatform({ files, env: { KEY: 'NRAK-FROM-ENV', OTHER: 'NRAK-OTHER' } });
  const platform = {
    ...fake,
    readFile: async (path: string): Promise<Uint8Array> => {
      read.push(path);
      if (failure !== undefined) throw Object.assign(new Error(failure), { code: failure });
      return fake.readFile(path);
    },
  };
  const logger = createFakeLogger();
  return {
    platform,
    files,
    read,
    fail: (code) => {
      failure = code;
    },
    prepare: async (account, previous) =>
      prepareAccount(
        {
          account: anAccount({ apiKey: { kind: 'file', path: '/key' }, ...account }),
          entries: [anEntry()],
        },
        { platform, logger },
        previous,
      ),
  };
}

describe('prepareAccount', () => {
  it('reads the key and the CA bundle, and says how to connect', async () => {
    const { platform, prepare } = aBench();
    const proxyUrl = 'http://proxy:3128';

    const prepared = await prepare({ caFile: '/ca.pem', concurrency: 3, proxyUrl });

    expect(prepared.keyProvider.current()).toBe('NRAK-FILED');
    expect(prepared.entries).toEqual([anEntry()]);
    expect(prepared.wire).toEqual({
      baseUrl: 'https://api.newrelic.com',
      connections: 3,
      proxyUrl,
      ca: firstCa,
      userAgent: expect.stringMatching(/^newrelic-exporter\/\S+ \(Prometheus exporter\)$/u),
    });
    expect(platform.clock.pendingTimers()).toBe(0);
  });

  it.each([
    { code: 'ETIMEDOUT', exitCode: 1 },
    { code: 'EIO', exitCode: 1 },
    { code: 'ESTALE', exitCode: 1 },
    { code: 'ENOENT', exitCode: 2 },
    { code: 'EACCES', exitCode: 2 },
  ])('ends with $exitCode for $code: a volume may answer later', async ({ code, exitCode }) => {
    const { prepare, fail } = aBench();

    fail(code);

    await expect(prepare({})).rejects.toMatchObject({ exitCode, message: expect.any(String) });
    await expect(
      prepare({ apiKey: { kind: 'env', name: 'KEY' }, caFile: '/ca.pem' }),
    ).rejects.toMatchObject({ exitCode });
  });

  it('does not read the key again if the account in force has it from the same place', async () => {
    const { files, read, prepare } = aBench();
    const before = await prepare({});
    delete files['/key'];

    const after = await prepare({ concurrency: 2, requestsPerMinute: 10 }, before);

    expect(after.keyProvider).toBe(before.keyProvider);
    expect(read).toEqual(['/key']);
  });

  it.each<{ what: string; before: AccountConfig['apiKey']; after: AccountConfig['apiKey'] }>([
    {
      what: 'another variable',
      before: { kind: 'env', name: 'KEY' },
      after: { kind: 'env', name: 'OTHER' },
    },
    {
      what: 'a file in the place of a variable',
      before: { kind: 'env', name: 'OTHER' },
      after: { kind: 'file', path: 'OTHER' },
    },
  ])('reads the key from $what', async ({ before, after }) => {
    const { files, prepare } = aBench();
    files['OTHER'] = 'NRAK-OTHER-FILE';
    const previous = await prepare({ apiKey: before });

    const next = await prepare({ apiKey: after }, previous);

    expect(next.keyProvider.current()).toMatch(/^NRAK-OTHER/u);
    expect(next.keyProvider).not.toBe(previous.keyProvider);
  });

  it('reads the CA bundle every time: a new one may have the old name', async () => {
    const { files, prepare } = aBench();
    const before = await prepare({ caFile: '/ca.pem' });
    files['/ca.pem'] = secondCa;

    const after = await prepare({ caFile: '/ca.pem' }, before);

    expect([before.wire.ca, after.wire.ca]).toEqual([firstCa, secondCa]);
  });

  it('reads the URL of the proxy every time, and hides its password', async () => {
    const { files, platform, prepare } = aBench();
    const account: Partial<AccountConfig> = { proxyUrlFrom: { kind: 'file', path: '/proxy' } };
    files['/proxy'] = 'http://user:hunter2@one:3128\n';
    const before = await prepare(account);
    files['/proxy'] = 'http://user:hunter3@two:3128\n';

    const after = await prepare(account, before);

    expect([before.wire.proxyUrl, after.wire.proxyUrl]).toEqual([
      'http://user:hunter2@one:3128',
      'http://user:hunter3@two:3128',
    ]);
    expect(platform.redactor.redact('hunter2 hunter3')).toBe('[redacted] [redacted]');
  });

  it.each<{ what: string; account: Partial<AccountConfig>; message: string }>([
    {
      what: 'a variable of the proxy that is not set',
      account: { proxyUrlFrom: { kind: 'env', name: 'MISSING' } },
      message:
        'account production: the environment variable MISSING is not set: set it to the proxy URL',
    },
    {
      what: 'a variable that is not set',
      account: { apiKey: { kind: 'env', name: 'MISSING' } },
      message:
        'account production: the environment variable MISSING is not set: set it to the API key',
    },
    {
      what: 'a key file that is not there',
      account: { apiKey: { kind: 'file', path: '/missing' } },
      message:
        'account production: the API key file /missing does not exist: create it with the API key as its only content, readable by this user',
    },
    {
      what: 'a CA bundle that is not there',
      account: { caFile: '/missing.pem' },
      message:
        'account production: the CA file /missing.pem does not exist: create it, readable by this user',
    },
    {
      what: 'a CA bundle without a certificate',
      account: { caFile: '/key' },
      message:
        'account production: the CA file /key holds no certificate that can be read: write the certificates into it as PEM, each from BEGIN to END CERTIFICATE',
    },
  ])('ends the command with code 2 and a remedy for $what', async ({ account, message }) => {
    const { prepare } = aBench();

    const error: unknown = await prepare(account).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(CommandError);
    expect(error).toMatchObject({ exitCode: 2, message });
  });

  it('hides the key and the password of the proxy from then on, as it is sent too', async () => {
    const { platform, prepare } = aBench();

    await prepare({ proxyUrl: 'http://user:pass%20word@proxy:3128' });

    const sent = Buffer.from('user:pass word').toString('base64');
    const text = `NRAK-FILED, pass word, pass%20word, Basic ${sent}`;
    expect(platform.redactor.redact(text)).toBe(
      '[redacted], [redacted], [redacted], Basic [redacted]',
    );
  });
});
