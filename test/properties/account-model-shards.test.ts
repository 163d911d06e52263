import { describe, expect, it } from 'vitest';
import { reportOfModel, shards } from './account-model.ts';

describe('shards of accounts to which anything may happen', () => {
  it('keep one budget together, and each application is polled by one of them', async () => {
    expect(await reportOfModel(3, shards)).toBeUndefined();
  });
});
