import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FakePlatform } from '../support/fake-platform.ts';
import { slow } from '../support/slow.ts';
import { account, app, loaded, main, namesOf, platformWith, refusalOf } from './including.ts';

describe('include, of many files', () => {
  it(
    'has each of a thousand files, and each of ten thousand entries, at its place',
    slow,
    async () => {
      const names = Array.from(
        { length: 1000 },
        (_, index) => `t${String(index).padStart(4, '0')}`,
      );
      const entries = (team: number): string =>
        Array.from({ length: 10 }, (_, index) => `  - id: ${10 * team + index + 1}\n`).join('');
      const files = Object.fromEntries(
        names.map((name, team) => [`/etc/nr/teams/${name}.yaml`, `apps:\n${entries(team)}`]),
      );
      const whole = { ...files, '/etc/nr/config.yaml': main };
      const broken = { ...whole, '/etc/nr/teams/t0999.yaml': 'apps:\n  - idd: 1\n' };

      const config = await loaded(whole);

      expect(config.includedFiles).toHaveLength(1000);
      expect(namesOf(config)).toEqual(
        Array.from({ length: 10_000 }, (_, index) => `id=${index + 1}`),
      );
      expect(await refusalOf(platformWith(broken))).toContain(
        '/etc/nr/teams/t0999.yaml:2:5: unknown',
      );
    },
  );

  it('means what one file with all entries means, wherever the entries stand', slow, async () => {
    const entry = fc.record({
      kind: fc.constantFrom('apps', 'queries'),
      id: fc.integer({ min: 1, max: 9 }),
      file: fc.integer({ min: 0, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 20 }), async (entries) => {
        const textOf = (some: typeof entries): string =>
          ['apps', 'queries']
            .map((key) => {
              const items = some
                .filter(({ kind }) => kind === key)
                .map((one) =>
                  key === 'apps'
                    ? { id: one.id }
                    : { as: `q${entries.indexOf(one)}`, nrql: `SELECT count(*) FROM A${one.id}` },
                );
              return items.length === 0 ? '' : `${key}: ${JSON.stringify(items)}\n`;
            })
            .join('');
        const inOrder = entries.toSorted((left, right) => left.file - right.file);
        const parts = [0, 1, 2, 3, 4].map((file) =>
          textOf(entries.filter((one) => one.file === file)),
        );
        const files = Object.fromEntries(
          parts.slice(1).map((text, index) => [`/etc/nr/teams/${index}.yaml`, text]),
        );

        const { includedFiles: _, ...config } = await loaded({
          ...files,
          '/etc/nr/config.yaml': main + parts[0],
        });

        expect(config).toEqual(await loaded({ '/etc/nr/config.yaml': account + textOf(inOrder) }));
      }),
      { numRuns: 50 },
    );
  });

  it('has bounds, for a pattern that is far too wide', slow, async () => {
    const text = `#${'x'.repeat(1024 * 1024 - 2)}\n`;
    const names = Array.from({ length: 17 }, (_, index) => `/etc/nr/teams/${index}.yaml`);
    const large = Object.fromEntries(names.map((name) => [name, text]));
    const many = { ...platformWith({ '/etc/nr/config.yaml': `${main}${app(1)}` }) };
    const listDirectory = async (): Promise<readonly string[]> =>
      Array.from({ length: 10_001 }, (_, index) => `${index}.yaml`);
    const readFile: FakePlatform['readFile'] = async (path) =>
      path.includes('teams') ? new Uint8Array() : many.readFile(path);

    expect(await refusalOf(platformWith({ '/etc/nr/config.yaml': main, ...large }))).toContain(
      '"include" stands for more than',
    );
    expect(await refusalOf({ ...many, listDirectory, readFile })).toContain(
      'more than 10000 files',
    );
  });
});
