import { describe, expect, it } from 'vitest';
import { hashProblem, slowHashProblem } from '../../src/config/bcrypt-hash.ts';

const tail = 'X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';

describe('hashProblem', () => {
  it.each([{ hash: `$2a$10$${tail}` }, { hash: `$2b$04$${tail}` }, { hash: `$2y$15$${tail}` }])(
    'finds none in $hash',
    ({ hash }) => {
      expect(hashProblem(hash)).toBeUndefined();
    },
  );

  it.each([
    { what: 'a password', value: 'hunter2hunter2' },
    { what: 'a number', value: 12_345_678 },
    { what: 'nothing', value: null },
    { what: 'a hash that was cut', value: `$2y$10$${tail.slice(1)}` },
    { what: 'a hash with something after it', value: `$2y$10$${tail}.` },
    { what: 'a hash of another kind', value: '$6$rounds=5000$saltsalt$abcdefghijkl' },
    { what: 'an unknown variant of bcrypt', value: `$2x$10$${tail}` },
  ])('refuses $what and does not repeat it', ({ value }) => {
    const problem = hashProblem(value);

    expect(problem?.message).toBe('must be a bcrypt hash, which begins with $2a$, $2b$ or $2y$');
    expect(problem?.help).toBe('make one with: htpasswd -nBC 10 "" | tr -d \':\\n\'');
  });

  it.each([{ cost: '03' }, { cost: '16' }, { cost: '31' }, { cost: '99' }])(
    'refuses the cost $cost',
    ({ cost }) => {
      expect(hashProblem(`$2y$${cost}$${tail}`)?.message).toBe(
        `has a bcrypt cost of ${Number(cost)}: it must be from 4 to 15`,
      );
    },
  );
});

describe('slowHashProblem', () => {
  it.each([
    { cost: '12', isSlow: false },
    { cost: '13', isSlow: true },
    { cost: '15', isSlow: true },
  ])('calls the cost $cost slow: $isSlow', ({ cost, isSlow }) => {
    expect(slowHashProblem(`$2y$${cost}$${tail}`) !== undefined).toBe(isSlow);
  });
});
