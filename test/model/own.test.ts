import { describe, expect, it } from 'vitest';
import { own } from '../../src/model/own.ts';

describe('own', () => {
  it.each(Object.getOwnPropertyNames(Object.prototype))('knows %s only if it is there', (name) => {
    expect(own({}, name)).toBeUndefined();
    expect(own(Object.fromEntries([[name, 1]]), name)).toBe(1);
  });
});
