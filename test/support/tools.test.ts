import { describe, expect, it } from 'vitest';
import { noteIn, skipUnless, toolOrSkip } from './tools.ts';

const nodeFolder = process.execPath.slice(0, process.execPath.lastIndexOf('/'));

describe('toolOrSkip', () => {
  it.each([
    { what: 'runs a tool that is there', name: 'node', ci: undefined, skip: false },
    { what: 'runs a tool that is there in CI', name: 'node', ci: 'true', skip: false },
    { what: 'skips a missing tool', name: 'no-such-tool', ci: undefined, skip: true },
    { what: 'does not skip a missing tool in CI', name: 'no-such-tool', ci: 'true', skip: false },
  ])('$what', ({ name, ci, skip }) => {
    expect(toolOrSkip(name, { PATH: nodeFolder, CI: ci }).skip).toBe(skip);
  });

  it('says why it skips', () => {
    expect(toolOrSkip('no-such-tool', { PATH: nodeFolder }).note).toBe(
      ' (skipped: no-such-tool is not in PATH; get it: apt-get install no-such-tool)',
    );
    expect(toolOrSkip('node', { PATH: nodeFolder }).note).toBe('');
  });
});

describe('noteIn', () => {
  it.each([
    { skip: toolOrSkip('promtool', {}), how: 'apt-get install prometheus' },
    { skip: toolOrSkip('promtool', {}, '.ci/tools promtool'), how: '.ci/tools promtool' },
    { skip: skipUnless(false, 'promtool is not in PATH'), how: '' },
  ])('reads why a test was skipped, and what helps: "$how"', ({ skip, how }) => {
    expect(noteIn(`rules${skip.note} > one`)).toEqual({ why: 'promtool is not in PATH', how });
  });

  it('finds nothing where nothing was skipped', () => {
    expect(noteIn(`rules${skipUnless(true, 'never').note} (all of them)`)).toBeUndefined();
  });
});
