import { describe, expect, it } from 'vitest';
import { isColorWanted } from '../../src/telemetry/colors.ts';

describe('colours', () => {
  it.each([
    { isTTY: true, env: {}, wanted: true },
    { isTTY: false, env: {}, wanted: false },
    { isTTY: undefined, env: {}, wanted: false },
    { isTTY: true, env: { NO_COLOR: '1' }, wanted: false },
    { isTTY: true, env: { NO_COLOR: '0' }, wanted: false },
    { isTTY: true, env: { NO_COLOR: '' }, wanted: true },
    { isTTY: true, env: { TERM: 'dumb' }, wanted: false },
    { isTTY: false, env: { FORCE_COLOR: '1' }, wanted: true },
    { isTTY: false, env: { FORCE_COLOR: '' }, wanted: true },
    { isTTY: false, env: { FORCE_COLOR: '3', NO_COLOR: '1', TERM: 'dumb' }, wanted: true },
    { isTTY: true, env: { FORCE_COLOR: '0' }, wanted: false },
    { isTTY: true, env: { FORCE_COLOR: 'false' }, wanted: false },
  ])('on a terminal $isTTY, with $env: $wanted', ({ isTTY, env, wanted }) => {
    expect(isColorWanted({ isTTY }, env)).toBe(wanted);
  });
});
