import { describe, expect, it } from 'vitest';
import { slow } from '../support/slow.ts';
import { reportOfModel, shards, switchedSources } from './account-model.ts';

/** The long version of this file tries more. */
describe('accounts to which anything may happen', () => {
  it('1.1 11.1 keep their budget and publish the truth', async () => {
    expect(await reportOfModel(2)).toBeUndefined();
  });

  it('1.2 keep one budget together as shards, and each application is polled by one of them', async () => {
    expect(await reportOfModel(1, shards)).toBeUndefined();
  });

  it('show no series twice while reloads switch their source', slow, async () => {
    expect(await reportOfModel(1, switchedSources)).toBeUndefined();
  });
});
