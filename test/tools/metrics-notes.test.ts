import { describe, expect, it } from 'vitest';
import { budgetNote } from '../../src/tools/metrics-notes.ts';

describe('the note on what a list of metrics costs', () => {
  it.each([
    { pages: 2, said: ': 1 further call from' },
    { pages: 12, said: ': 11 further calls from' },
    { pages: 1240, said: ': 99 further calls from' },
    { pages: undefined, said: ': up to 99 further calls from' },
  ])('counts the calls for $pages pages', ({ pages, said }) => {
    expect(budgetNote({ name: 'main', requestsPerMinute: 30 }, pages)).toContain(
      `${said} the budget of account main (30 a minute)`,
    );
  });
});
