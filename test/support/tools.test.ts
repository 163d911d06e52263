import { describe, expect, it } from 'vitest';
import { toolOrSkip } from './tools.ts';

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
