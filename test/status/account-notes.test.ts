import { describe, expect, it } from 'vitest';
import { accountNotes } from '../../src/status/account-notes.ts';
import { textOf } from '../support/html-parts.ts';
import { anAccountDetails, statusNowMs } from '../support/status-source.ts';

describe('how many calls metrics take', () => {
  it.each([
    { metricCalls: undefined, says: 'REST API v2. API key' },
    { metricCalls: '4 metrics take 1 call', says: 'REST API v2: 4 metrics take 1 call. API key' },
  ])('is said of an account: $metricCalls', ({ metricCalls, says }) => {
    const notes = accountNotes(anAccountDetails({ metricCalls }), statusNowMs);

    expect(textOf(notes.toString())).toContain(says);
  });
});
