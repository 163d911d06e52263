import { describe, expect, it } from 'vitest';
import { reportOfModel } from './account-model.ts';

describe('accounts to which anything may happen', () => {
  it('keep their budget and publish the truth: some courses of events', async () => {
    expect(await reportOfModel(8)).toBeUndefined();
  });
});
