import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type IncludedFile, readConfigFile } from '../../src/config/config-file.ts';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { effectiveConfigText } from '../../src/config/effective-config.ts';
import { type KeptConfig, parseKeeping } from '../../src/config/kept-files.ts';
import { slow } from '../support/slow.ts';
import { account, app, main, namesOf, platformWith, query } from './including.ts';

const path = '/etc/nr/config.yaml';

type Files = Readonly<Record<string, string>>;

/** Reads the files as a daemon does that had these before. */
async function kept(
  files: Files,
  before: readonly IncludedFile[] = [],
  failures: Readonly<Record<string, string>> = {},
): Promise<KeptConfig> {
  const platform = platformWith(files, failures);
  return parseKeeping(await readConfigFile(path, platform), before, platform);
}

const team = (name: string): string => `/etc/nr/teams/${name}.yaml`;
const whole: Files = {
  [path]: main,
  [team('a')]: app(1),
  [team('b')]: app(2),
  [team('c')]: app(3),
};

const breakings = [
  {
    what: 'a wrong key',
    text: 'apps: [{ idd: 9 }]\n',
    says: `${team('b')}:1:10: unknown key "idd"`,
  },
  { what: 'no YAML', text: 'apps: [\n', says: `${team('b')}:2:1: YAML: ` },
  { what: 'a key of the main file', text: 'poll: {}\n', says: 'unknown key "poll"' },
  {
    what: 'an unknown account',
    text: 'apps: [{ id: 9, account: z }]\n',
    says: 'unknown account "z"',
  },
  { what: 'a bad pattern', text: 'apps: [{ match: "(" }]\n', says: `${team('b')}:1:17: ` },
  {
    what: 'an API key',
    text: `apps: [{ id: 9, labels: { x: NRAK-${'A'.repeat(27)} } }]\n`,
    says: 'the API key must not be in this file',
  },
] as const;

describe('8.1 a broken included file', () => {
  it.each(breakings)(
    'keeps what it last said, and nothing else of the change: $what',
    async ({ text, says }) => {
      const { files: before } = await kept(whole);

      const { config, broken } = await kept(
        { ...whole, [team('b')]: text, [team('c')]: app(4) },
        before,
      );

      expect(namesOf(config)).toEqual(['id=1', 'id=2', 'id=4']);
      expect(broken).toMatchObject([{ name: team('b'), isKept: true }]);
      expect(broken[0]?.problem).toContain(says);
      expect(JSON.stringify(broken)).not.toContain('A'.repeat(27));
    },
  );

  it.each(breakings)('says nothing at a start: $what', async ({ text, says }) => {
    const { config, broken } = await kept({ ...whole, [team('b')]: text });

    expect(namesOf(config)).toEqual(['id=1', 'id=3']);
    expect(broken).toMatchObject([{ name: team('b'), isKept: false }]);
    expect(broken[0]?.problem).toContain(says);
  });

  it.each([
    { what: 'cannot be read', failures: { [team('b')]: 'EACCES' }, name: team('b') },
    {
      what: 'is on a volume that does not answer',
      failures: { [team('b')]: 'ETIMEDOUT' },
      name: team('b'),
    },
    {
      what: 'is in a directory that cannot be read',
      failures: { '/etc/nr/teams': 'EACCES' },
      name: 'teams/*.yaml',
    },
  ])('keeps what it last said when it $what', async ({ failures, name }) => {
    const { files: before } = await kept(whole);

    const { config, broken } = await kept(whole, before, failures);

    expect(namesOf(config)).toEqual(['id=1', 'id=2', 'id=3']);
    expect(broken).toMatchObject([{ name, isKept: true }]);
  });

  it('keeps all files of a directory that is gone', async () => {
    const { files: before } = await kept(whole);

    const { config, broken } = await kept({ [path]: main }, before);

    expect(namesOf(config)).toEqual(['id=1', 'id=2', 'id=3']);
    expect(broken).toMatchObject([{ name: 'teams/*.yaml', isKept: true }]);
    expect(broken[0]?.problem).toContain('a directory of "teams/*.yaml" does not exist');
  });

  it('is gone with its entries when it is taken away', async () => {
    const { files: before } = await kept(whole);
    const { [team('b')]: _, ...rest } = whole;

    const { config, broken } = await kept(rest, before);

    expect([namesOf(config), broken]).toEqual([['id=1', 'id=3'], []]);
  });

  it('is the file that a pattern without a wildcard names and that is not there', async () => {
    const named = { ...whole, [path]: `${account}include: [teams/a.yaml, teams/x.yaml]\n` };

    const { config, broken } = await kept(named);

    expect(namesOf(config)).toEqual(['id=1']);
    expect(broken).toMatchObject([{ name: team('x'), isKept: false }]);
  });

  it.each([
    { what: 'two files', files: { [team('a')]: query('shop'), [team('b')]: query('shop') } },
    {
      what: 'the main file and an included one',
      files: { [path]: main + query('shop'), [team('b')]: query('shop') },
    },
    {
      what: 'the main file, and a metric of an included one',
      files: {
        [path]: main + query('shop'),
        [team('b')]: 'apps: [{ id: 5, metrics: [{ metric: A/b, value: call_count, as: shop }] }]\n',
      },
    },
  ])('is the later one of a rule between $what', async ({ files }) => {
    const { config, broken } = await kept({ ...whole, ...files });

    expect(broken).toMatchObject([{ name: team('b'), isKept: false }]);
    expect(namesOf(config)).toContain('shop');
    expect(namesOf(config)).toContain('id=3');
  });

  it.each([
    { what: 'a file before it', name: 'a', files: { [team('a')]: query('shop') } },
    { what: 'a new file before it', name: 'aa', files: { [team('aa')]: query('shop') } },
    { what: 'a new file behind it', name: 'd', files: { [team('d')]: query('shop') } },
  ])(
    'is the one that has changed, and not whoever says what it said: $what',
    async ({ name, files }) => {
      const { files: before } = await kept({ ...whole, [team('b')]: query('shop') });

      const { config, broken } = await kept(
        { ...whole, [team('b')]: query('shop'), ...files },
        before,
      );

      expect(broken).toMatchObject([{ name: team(name), isKept: name === 'a' }]);
      expect(broken[0]?.problem).toContain('the gauge "shop" is there already');
      expect(namesOf(config)).toEqual(['id=1', 'id=3', 'shop']);
    },
  );

  it('is what it last said again as soon as that is no error any more', async () => {
    const broken = { [team('b')]: 'apps: [' };
    const first = await kept({ ...whole, [team('b')]: query('shop') });
    const taken = await kept({ ...whole, ...broken, [path]: main + query('shop') }, first.files);

    const back = await kept({ ...whole, ...broken }, taken.files);

    expect(taken.broken).toMatchObject([{ name: team('b'), isKept: false }]);
    expect(namesOf(back.config)).toEqual(['id=1', 'id=3', 'shop']);
    expect(back.broken).toMatchObject([{ name: team('b'), isKept: true }]);
  });

  it('is left out when what it last said is an error by now', async () => {
    const { files: before } = await kept({ ...whole, [team('b')]: query('shop') });

    const { config, broken } = await kept(
      { ...whole, [path]: main + query('shop'), [team('b')]: 'apps: [' },
      before,
    );

    expect(namesOf(config)).toEqual(['id=1', 'id=3', 'shop']);
    expect(broken).toMatchObject([{ name: team('b'), isKept: false }]);
  });

  it.each([
    {
      what: 'the main file is broken',
      files: { ...whole, [path]: `${main}pol: {}\n`, [team('b')]: 'apps: [' },
      says: ['unknown key "pol"', 'teams/b.yaml:1:'],
    },
    {
      what: 'nothing is left to poll',
      files: { [path]: main, [team('b')]: 'apps: [' },
      says: ['teams/b.yaml:1:'],
    },
    { what: 'the main file cannot be read', files: {}, says: ['does not exist'] },
  ])('does not hide that $what: all of it is said', async ({ files, says }) => {
    const error: unknown = await kept(files).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(ConfigError);
    for (const one of says) expect(String(error)).toContain(one);
  });
});

describe('8.1 entries in several files, any of them broken in any way', () => {
  const texts = [
    app(1),
    app(2),
    query('shop'),
    query('shop'),
    'apps: [{ match: ^a }]\n',
    'apps: []\n',
  ];
  const anyText = fc.oneof(
    fc.constantFrom(...texts),
    fc.constantFrom(...breakings.map(({ text }) => text)),
  );
  const anyFiles = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), anyText, { minKeys: 1 });

  it('mean what those that are not broken mean alone', slow, async () => {
    const tried = fc.asyncProperty(anyFiles, async (teams) => {
      const files = Object.fromEntries(
        Object.entries(teams).map(([name, text]) => [team(name), text]),
      );
      const main9 = main + app(9);
      const { config, broken } = await kept({ [path]: main9, ...files });
      const bad = new Set(broken.map(({ name }) => name));
      const good = Object.fromEntries(Object.entries(files).filter(([name]) => !bad.has(name)));

      const alone = await kept({ [path]: main9, ...good, [team('zz')]: '' });

      expect(alone.broken).toEqual([]);
      const entriesOf = (text: string): string => text.replaceAll(/^#.*\n/gmu, '');
      expect(entriesOf(effectiveConfigText(config))).toBe(
        entriesOf(effectiveConfigText(alone.config)),
      );
    });

    await expect(fc.assert(tried, { numRuns: 200 })).resolves.toBeUndefined();
  });

  it(
    'are taken, kept and given up as a model says, however files break and heal',
    slow,
    async () => {
      const course = fc.array(
        fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(fc.integer({ min: 1, max: 5 }))),
        { maxLength: 12 },
      );
      const tried = fc.asyncProperty(course, async (steps) => {
        const files = new Map<string, string>();
        const said = new Map<string, number>();
        let before: readonly IncludedFile[] = [];
        for (const [index, [name, id]] of steps.entries()) {
          // No two files have the same entry: each breaks alone.
          files.set(team(name), id === null ? 'apps: [' : app(100 * index + id));
          if (id !== null) said.set(team(name), 100 * index + id);
          const {
            config,
            broken,
            files: now,
          } = await kept({ [path]: main + app(9), ...Object.fromEntries(files) }, before);
          before = now;

          const wanted = [...said]
            .toSorted(([one], [other]) => (one < other ? -1 : 1))
            .map(([, one]) => `id=${one}`);
          expect(namesOf(config)).toEqual(['id=9', ...wanted]);
          const bad = [...files].filter(([, text]) => text === 'apps: [').map(([one]) => one);
          expect(broken.map(({ name: one }) => one).toSorted()).toEqual(bad.toSorted());
        }
      });

      await expect(fc.assert(tried, { numRuns: 100 })).resolves.toBeUndefined();
    },
  );
});
