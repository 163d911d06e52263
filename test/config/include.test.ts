import { describe, expect, it } from 'vitest';
import { readConfigFile } from '../../src/config/config-file.ts';
import { effectiveConfigText } from '../../src/config/effective-config.ts';
import { inspectConfig, loadConfig, parseConfig } from '../../src/config/load-config.ts';
import type { FakePlatform } from '../support/fake-platform.ts';
import {
  account,
  app,
  loaded,
  main,
  namesOf,
  platformWith,
  query,
  refusalOf,
} from './including.ts';

describe('include', () => {
  it('appends the entries of files behind those of the file itself, in the order of their paths, byte by byte', async () => {
    const config = await loaded({
      '/etc/nr/config.yaml': `${account}include: [teams/*.yaml, more/x.yaml]\n${app(1)}${query('q1')}`,
      '/etc/nr/teams/b.yaml': app(5) + query('q5'),
      '/etc/nr/teams/B.yaml': app(3),
      '/etc/nr/teams/é.yaml': app(6),
      '/etc/nr/teams/a.yaml': `${query('q4')}${app(4)}`,
      '/etc/nr/more/x.yaml': app(2),
    });

    const ids = ['id=1', 'id=2', 'id=3', 'id=4', 'id=5', 'id=6'];
    expect(namesOf(config)).toEqual([...ids, 'q1', 'q4', 'q5']);
    expect(config.includedFiles).toEqual(
      ['more/x', 'teams/B', 'teams/a', 'teams/b', 'teams/é'].map((one) => `/etc/nr/${one}.yaml`),
    );
  });

  it.each([
    { pattern: 'teams/*.yaml', names: ['/etc/nr/teams/a.yaml', '/etc/nr/teams/ab.yaml'] },
    { pattern: './teams/?.yaml', names: ['/etc/nr/teams/a.yaml'] },
    { pattern: 'teams/*', names: ['/etc/nr/teams/a.yaml', '/etc/nr/teams/ab.yaml'] },
    { pattern: '*/*/apps.yaml', names: ['/etc/nr/teams/x/apps.yaml', '/etc/nr/teams/y/apps.yaml'] },
    { pattern: '/opt/*.yaml', names: ['/opt/o.yaml'] },
    { pattern: '../../opt/o.y*l', names: ['/opt/o.yaml'] },
    { pattern: 'teams/.h*.yaml', names: ['/etc/nr/teams/.hidden.yaml'] },
    { pattern: 'teams/..data/*.yaml', names: ['/etc/nr/teams/..data/d.yaml'] },
    { pattern: 'teams/a.yaml', names: ['/etc/nr/teams/a.yaml'] },
    { pattern: 'teams/[a]+.yaml', names: ['/etc/nr/teams/[a]+.yaml'] },
    { pattern: 'teams/[a]+*.yaml', names: ['/etc/nr/teams/[a]+.yaml'] },
  ])('stands for files: $pattern', async ({ pattern, names }) => {
    const directories = new Set(['x', 'y', '..data']);
    const nothing = 'apps: []\n';
    const files = {
      ...Object.fromEntries(names.map((name) => [name, nothing])),
      '/etc/nr/config.yaml': `${main.replace('teams/*.yaml', JSON.stringify(pattern))}${app(1)}`,
      '/etc/nr/teams/a.yaml': nothing,
      '/etc/nr/teams/ab.yaml': nothing,
      '/etc/nr/teams/.hidden.yaml': nothing,
      '/etc/nr/teams/..data/d.yaml': nothing,
      '/etc/nr/teams/x/apps.yaml': nothing,
      '/etc/nr/teams/y/apps.yaml': nothing,
      '/opt/o.yaml': nothing,
    };
    const platform = platformWith(files);
    // The fake names directories as well, as a real one does.
    const listDirectory = async (path: string): Promise<readonly string[]> =>
      (await platform.listDirectory(path)).filter(
        (name) => pattern !== 'teams/*' || (!directories.has(name) && !name.includes('[')),
      );

    const { config, warnings } = await loadConfig('/etc/nr/config.yaml', {
      ...platform,
      listDirectory,
    });

    expect(config.includedFiles).toEqual(names);
    expect(warnings).toEqual([]);
  });

  it.each([
    '? include\n: [teams/a.yaml]\n',
    '"\\u0069nclude": [teams/a.yaml]\n',
    '{"include":["teams/a.yaml"]}',
  ])('is found however its key is written: %j', async (include) => {
    const files = { '/etc/nr/config.yaml': include, '/etc/nr/teams/a.yaml': app(1) };

    expect(namesOf(await loaded(files))).toEqual(['id=1']);
  });

  it('names files as the configuration file is named', async () => {
    const platform = platformWith({ 'config.yaml': main, 'teams/a.yaml': 'apps: [{ idd: 1 }]' });
    const readFile: FakePlatform['readFile'] = async (path) =>
      platform.readFile(path.replace(`${process.cwd()}/`, ''));

    await expect(loadConfig('config.yaml', { ...platform, readFile })).rejects.toThrow(
      'teams/a.yaml:1:10: unknown key "idd"',
    );
  });

  it('names a pattern that no file matches beside errors, too: it may be why something is missing', async () => {
    const files = { '/etc/nr/config.yaml': main, '/etc/nr/teams/a.txt': '' };
    const { text, ...source } = await readConfigFile('/etc/nr/config.yaml', platformWith(files));
    const { errors, warnings } = await inspectConfig(text, source);

    expect(errors.map(({ message }) => message)).toEqual(['no file of "include" has an entry']);
    expect(warnings.map(({ message }) => message)).toEqual(['no file matches "teams/*.yaml"']);
  });

  it('warns of a pattern that no file matches, at its place', async () => {
    const files = { '/etc/nr/config.yaml': `${main}${app(1)}`, '/etc/nr/teams/a.txt': '' };

    const { warnings } = await loadConfig('/etc/nr/config.yaml', platformWith(files));

    expect(warnings).toMatchObject([
      { fileName: '/etc/nr/config.yaml', line: 2, column: 11, severity: 'warning' },
    ]);
    expect(warnings[0]?.message).toContain('no file matches "teams/*.yaml"');
  });

  it('warns of a file that has nothing in it', async () => {
    const files = {
      '/etc/nr/config.yaml': `${main}${app(1)}`,
      '/etc/nr/teams/a.yaml': '# soon\n',
      '/etc/nr/teams/b.yaml': '',
    };

    const { warnings } = await loadConfig('/etc/nr/config.yaml', platformWith(files));

    expect(warnings).toMatchObject(
      ['a', 'b'].map((name) => ({
        fileName: `/etc/nr/teams/${name}.yaml`,
        line: 1,
        message: 'the included file is empty',
        help: 'write what is polled, or take it out of "include"',
      })),
    );
  });

  it.each([
    { include: 'teams', code: 'EISDIR', says: 'such as "teams/*.yaml"' },
    { include: 'teams/', code: 'EISDIR', says: 'such as "teams/*.yaml"' },
    { include: 'teams/{a,b}.yaml', says: 'write "teams/a.yaml", "teams/b.yaml"' },
    { include: 'teams/{a, b}*.yaml', says: 'write "teams/a*.yaml", "teams/b*.yaml"' },
    { include: '~/x.yaml', says: '"~" is not replaced: write the whole path' },
    { include: '~/*.yaml', says: '"~" is not replaced: write the whole path' },
    { include: '$HOME/x.yaml', says: 'variables such as $HOME are not replaced' },
    { include: '${HOME}/*.yaml', says: 'variables such as $HOME are not replaced' },
    { include: 'https://h/x.yaml', says: 'only files are included' },
    { include: 'teams/none.yaml', says: 'create it, or take it out of "include"' },
  ])('says what to write in place of $include', async ({ include, code = '', says }) => {
    const text = `${account}include: [${JSON.stringify(include)}]\n${app(1)}`;
    const failures = code === '' ? {} : { '/etc/nr/teams': code };
    const platform = platformWith({ '/etc/nr/config.yaml': text }, failures);
    const file = await readConfigFile('/etc/nr/config.yaml', platform);

    const { errors, warnings } = await inspectConfig(file.text, file);

    const [found, ...others] = [...errors, ...warnings];
    expect(found?.help).toContain(says);
    expect(others).toEqual([]);
  });

  it('names a directory that a pattern matches', async () => {
    const files = { '/etc/nr/config.yaml': `${account}include: ["*"]\n${app(1)}` };
    const platform = platformWith(files, { '/etc/nr/teams': 'EISDIR' });
    const listDirectory = async (): Promise<readonly string[]> => ['teams'];

    expect(await refusalOf({ ...platform, listDirectory })).toContain(
      'the included file /etc/nr/teams is a directory',
    );
  });

  it('says of "**" once what is wrong with it', async () => {
    const text = `${account}include: ["teams/**/*.yaml"]\n${app(1)}`;
    const file = await readConfigFile(
      '/etc/nr/config.yaml',
      platformWith({ '/etc/nr/config.yaml': text }),
    );

    const { errors, warnings } = await inspectConfig(file.text, file);

    expect([...errors, ...warnings].map(({ message }) => message)).toEqual([
      'each entry of "include" must not have **',
    ]);
  });

  const other = '/etc/nr/teams/b.yaml';
  it.each([
    {
      what: 'an entry of it',
      files: { [other]: '# team b\napps:\n  - { id: 1, accuont: a }\n' },
      says: [`${other}:3:14: unknown key "accuont"`, '  3 |   - { id: 1, accuont: a }', '^^^^^^^'],
    },
    {
      what: 'its syntax',
      files: { [other]: 'apps: [\n' },
      says: [`${other}:2:1: YAML: `],
    },
    {
      what: 'a key that belongs to the main file',
      files: { [other]: 'poll: { interval: 1m }\napps: []\n' },
      says: [`${other}:1:1: unknown key "poll"`, 'belongs to the file that includes this one'],
    },
    {
      what: 'an include of its own',
      files: { [other]: 'include: [c.yaml]\n' },
      says: [`${other}:1:1: unknown key "include"`, 'belongs to the file that includes this one'],
    },
    {
      what: 'a list that is none',
      files: { [other]: 'apps: { id: 1 }\n' },
      says: [`${other}:1:7: "apps" must be a list`],
    },
    {
      what: 'a file that is no map',
      files: { [other]: '- id: 1\n' },
      says: [`${other}:1:1: the file must be a map`],
    },
    {
      what: 'an unknown account',
      files: { [other]: 'apps: [{ id: 1, account: b }]\n' },
      says: [`${other}:1:26: unknown account "b"`],
    },
    {
      what: 'a gauge that another file has',
      files: { '/etc/nr/teams/a.yaml': query('q'), [other]: query('q') },
      says: [`${other}:1:17: the gauge "q" is there already`],
    },
    {
      what: 'a regular expression',
      files: { [other]: 'apps: [{ match: "(" }]\n' },
      says: [`${other}:1:17: `],
    },
    {
      what: 'a key of New Relic in it, which is masked',
      files: { [other]: `apps: [{ id: 1, labels: { x: NRAK-ABC } }]\n` },
      says: [`${other}:1:30: the API key must not be in this file`, 'x: ********'],
    },
    {
      what: 'a mistake in each of several files, in one run',
      files: {
        '/etc/nr/teams/a.yaml': 'aps: []',
        [other]: 'apps: [',
        '/etc/nr/teams/c.yaml': 'apps: [{ id: x }]',
      },
      says: ['/etc/nr/teams/a.yaml:1:1: ', `${other}:1:8: YAML`, '/etc/nr/teams/c.yaml:1:14: '],
    },
    {
      what: 'nothing to poll in any of them',
      files: { [other]: '# nothing yet\n' },
      says: ['/etc/nr/config.yaml:2:10: no file of "include" has an entry'],
    },
    {
      what: 'a file without UTF-8',
      files: { [other]: app(1) },
      broken: true,
      says: [`/etc/nr/config.yaml:2:11: the included file ${other} is not UTF-8`, 'encoding'],
    },
    {
      what: 'a large file',
      files: { [other]: `#${'x'.repeat(1024 * 1024)}` },
      says: [`/etc/nr/config.yaml:2:11: the included file ${other} is larger than 1 MiB`],
    },
  ])('refuses $what and names the place', async ({ files, says, broken = false }) => {
    const platform = platformWith({ '/etc/nr/config.yaml': main, ...files });
    const readFile: FakePlatform['readFile'] = async (path) =>
      broken && path === other ? new Uint8Array([0xff, 0xfe]) : platform.readFile(path);

    const message = await refusalOf({ ...platform, readFile });

    for (const each of says) expect(message).toContain(each);
    expect(message).not.toContain('NRAK-ABC');
  });

  it.each([
    { what: 'that may not be read', code: 'EACCES', says: 'cannot be read: permission denied' },
    { what: 'that is a directory', code: 'EISDIR', says: 'is a directory' },
    { what: 'whose target is gone', code: 'ENOENT', says: 'does not exist' },
  ])('refuses a file $what', async ({ code, says }) => {
    const files = { '/etc/nr/config.yaml': `${main}${app(1)}`, [other]: app(2) };

    const message = await refusalOf(platformWith(files, { [other]: code }));

    expect(message).toContain(`/etc/nr/config.yaml:2:11: the included file ${other} ${says}`);
  });

  it('refuses a file without wildcards that is not there, and a directory that may not be read', async () => {
    const include = 'include: [teams/none.yaml, "secret/*.yaml"]\n';
    const files = { '/etc/nr/config.yaml': `${account}${include}${app(1)}` };

    const message = await refusalOf(platformWith(files, { '/etc/nr/secret': 'EACCES' }));

    expect(message).toContain(':2:11: the included file /etc/nr/teams/none.yaml does not exist');
    expect(message).toContain(':2:28: a directory of "secret/*.yaml" cannot be read: permission');
  });

  it.each([
    { what: 'a directory', failing: '/etc/nr/teams' },
    { what: 'a file', failing: other },
  ])('may be usable later if the volume of $what does not answer', async ({ failing }) => {
    const files = { '/etc/nr/config.yaml': `${main}${app(1)}`, [other]: app(2) };
    const loading = loadConfig(
      '/etc/nr/config.yaml',
      platformWith(files, { [failing]: 'ETIMEDOUT' }),
    );

    await expect(loading).rejects.toMatchObject({ cause: { code: 'ETIMEDOUT' } });
    await expect(loading).rejects.toThrow('its file system does not answer');
  });

  it.each([
    {
      what: 'two patterns',
      include: '[teams/*.yaml, teams/b.yaml]',
      link: '',
      says: ':2:25: the file /etc/nr/teams/b.yaml is included twice',
    },
    {
      what: 'a symbolic link',
      include: '[teams/*.yaml]',
      link: '/etc/nr/teams/link.yaml',
      says: 'included twice; it is also',
    },
    {
      what: 'itself',
      include: '["*.yaml"]',
      link: '',
      says: 'the configuration file includes itself',
    },
  ])('refuses a file that is included twice, by $what', async ({ include, link, says }) => {
    const files = {
      '/etc/nr/config.yaml': `${account}include: ${include}\n${app(1)}`,
      [other]: app(2),
      ...(link !== '' && { [link]: app(2) }),
    };
    const realPath = async (path: string): Promise<string> => (path === link ? other : path);

    const message = await refusalOf({ ...platformWith(files), realPath });

    expect(message).toContain(says);
  });

  it.each([
    { include: 'teams/*.yaml', says: 'write include: ["teams/*.yaml"]' },
    { include: '["teams/**/*.yaml"]', says: 'must not have **' },
    { include: '[1]', says: 'each entry of "include" must be a string' },
    { include: '[""]', says: 'must not be empty' },
  ])('is a list of patterns: $include', async ({ include, says }) => {
    const files = { '/etc/nr/config.yaml': `${account}include: ${include}\n${app(1)}` };

    expect(await refusalOf(platformWith(files))).toContain(says);
  });

  it('is named in the effective configuration, which means the same without it', async () => {
    const config = await loaded({
      '/etc/nr/config.yaml': `${main}${app(1)}`,
      '/etc/nr/teams/a\u0085b.yaml': app(2) + query('q'),
    });
    const text = effectiveConfigText(config);
    const { includedFiles: _, ...same } = config;

    expect(text).toContain(
      '# With the entries of these files:\n#   /etc/nr/teams/a\\u{85}b.yaml\n',
    );
    const { config: again } = await parseConfig(text, { fileName: 'c', directory: '/etc/nr' });
    expect(again).toEqual(same);
  });

  it('parses the configuration file for its patterns only when its bytes have changed', async () => {
    const files: Record<string, string> = { '/etc/nr/config.yaml': main, [other]: app(1) };
    const platform = platformWith(files);
    const first = await readConfigFile('/etc/nr/config.yaml', platform);
    files[other] = app(2);

    const second = await readConfigFile('/etc/nr/config.yaml', platform, first.asked);

    expect(second.asked.patterns).toBe(first.asked.patterns);
    expect(second.digest).not.toBe(first.digest);
  });

  it('finds the place of an entry of another file, for commands that check it', async () => {
    const files = { '/etc/nr/config.yaml': main, [other]: `\n${app(1)}` };
    const { text, ...source } = await readConfigFile('/etc/nr/config.yaml', platformWith(files));

    const file = await inspectConfig(text, source);

    expect(file.placeOf(file.at('apps', 0, 'id'))).toMatchObject({
      fileName: other,
      line: 2,
      column: 14,
    });
  });
});
