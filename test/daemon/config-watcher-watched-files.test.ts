import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/config/read-file.ts';
import { watchedFilesOf } from '../../src/daemon/config-watcher.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const file = { path: '/config.yaml', digest: 'of what was parsed' };

describe('watchedFilesOf', () => {
  it('are the configuration as it was parsed, and the CA bundles of accounts in use', async () => {
    const config = {
      accounts: [
        anAccount({ name: 'one', caFile: '/ca.pem', apiKey: { kind: 'file', path: '/key' } }),
        anAccount({ name: 'two', caFile: '/ca.pem' }),
        anAccount({ name: 'three', caFile: '/lost.pem' }),
        anAccount({ name: 'unused', caFile: '/unused.pem' }),
        anAccount({ name: 'without' }),
      ],
      apps: ['one', 'two', 'three', 'without'].map((account) => anEntry({ account })),
    };
    const files = { '/config.yaml': 'changed since', '/ca.pem': 'PEM', '/key': 'NRAK-TEST' };

    const watched = await watchedFilesOf(file, config, createFakePlatform({ files }));

    expect([...watched]).toEqual([
      ['/config.yaml', 'of what was parsed'],
      ['/ca.pem', digestOf(Buffer.from('PEM'))],
      ['/lost.pem', ''],
    ]);
  });
});
