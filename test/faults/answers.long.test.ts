import { describe, expect, it } from 'vitest';
import { expectListHeld, expectValuesHeld, moreBadAnswers } from './bad-answers.ts';
import { sources } from './sources.ts';

describe.each(sources)('$name', (source) => {
  const rows = moreBadAnswers(source.account);

  it.each(rows)(
    'an application whose answers are bad keeps its last good values, disturbs no other and recovers: $what',
    async (row) => {
      await expect(expectValuesHeld(source, row)).resolves.toBeUndefined();
    },
  );

  it.each(rows)(
    'a list of applications that cannot be read removes nothing and stops no poll: $what',
    async (row) => {
      await expect(expectListHeld(source, row)).resolves.toBeUndefined();
    },
  );
});
