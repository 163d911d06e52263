import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildOf } from '../../src/daemon/build.ts';
import { readDocument, readProductDocuments } from './documents.ts';
import { codeBlocksIn } from './markdown.ts';
import { badEntriesOf, newestVersion, npmScriptsIn } from './release-rule.ts';

const packageSchema = z.object({
  version: z.string(),
  engines: z.object({ node: z.string() }),
  scripts: z.record(z.string(), z.string()),
});
const manifest = packageSchema.parse(JSON.parse(readDocument('package.json').text));
const changelog = readDocument('CHANGELOG.md').text;
const readme = readDocument('README.md').text;

describe('the version', () => {
  it('is the same in the changelog, the package and the program', () => {
    expect(newestVersion(changelog)).toBe(manifest.version);
    expect(buildOf({}).version).toBe(manifest.version);
  });
});

describe('CHANGELOG.md', () => {
  it('says of every entry what kind it is', () => {
    expect(badEntriesOf(changelog)).toEqual([]);
  });
});

describe('README.md', () => {
  it.each(['npm ci && npm run demo', 'npm ci && npm test'])('has the command %s', (command) => {
    expect(codeBlocksIn(readme).map(({ text }) => text.trim())).toContain(command);
  });

  it.each(['npm test', 'npm run test:all'])('says %s, which .ci/run runs', (command) => {
    expect(readme).toContain(command);
    expect(readDocument('.ci/run').text).toContain(
      `\ntests "${command.replaceAll(' ', '-').replace(':', '-')}" ${command} --`,
    );
  });

  it('names the version of Node.js that the package asks for', () => {
    expect(manifest.engines.node).toMatch(/^>=\d/);
    expect(readme).toContain(`Node ${manifest.engines.node.replace('>=', '>= ')}`);
  });
});

describe('every document', () => {
  it.each(readProductDocuments())('$path names only scripts that the package has', ({ text }) => {
    expect(npmScriptsIn(text).filter((name) => !(name in manifest.scripts))).toEqual([]);
  });
});

describe('the rules for releases', () => {
  it('find the newest version, where there is one in the right form', () => {
    expect(newestVersion('# Changelog\n\n## 1.2.3 / 2026-01-02\n\n## 1.2.2 / 2026-01-01\n')).toBe(
      '1.2.3',
    );
    expect(newestVersion('## 1.2.3\n')).toBeUndefined();
  });

  it('find entries without a kind', () => {
    const entries = '* [FEATURE] Good.\n* Bad.\n- [BUGFIX] Bad.\n* [FIX] Bad.\n* [CHANGE] Bad\n';

    expect(badEntriesOf(entries)).toHaveLength(4);
  });

  it('find the scripts that are to be run', () => {
    expect(npmScriptsIn('`npm run build`, npm test, npm run no-such:thing.')).toEqual([
      'build',
      'no-such:thing',
    ]);
  });
});
