import { describe, expect, it } from 'vitest';
import { reportOfModel, switchedSources } from './account-model.ts';

describe('accounts whose source is switched by reloads, to NerdGraph and back', () => {
  it('show no series twice and whole windows only, and keep the budget of each source', async () => {
    expect(await reportOfModel(4, switchedSources)).toBeUndefined();
  });
});
