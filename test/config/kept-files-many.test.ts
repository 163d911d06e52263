import { describe, expect, it } from 'vitest';
import { type IncludedFile, readConfigFile } from '../../src/config/config-file.ts';
import { parseKeeping } from '../../src/config/kept-files.ts';
import { slow } from '../support/slow.ts';
import { app, main, namesOf, platformWith, query } from './including.ts';

const path = '/etc/nr/config.yaml';
const team = (name: string): string => `/etc/nr/teams/${name}.yaml`;

type Files = Readonly<Record<string, string>>;

describe('8.1 a thousand included files', () => {
  const name = (at: number): string => team(String(1000 + at));
  const filesWith = (text: (at: number) => string): Files => ({
    [path]: main,
    ...Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [name(at), text(at)])),
  });
  const ownText = (at: number): string => app(10_000 + at) + query(`q${at}`);

  /** How often all of them were parsed. */
  async function keptWith(files: Files, before: readonly IncludedFile[] = []) {
    const platform = platformWith(files);
    const file = await readConfigFile(path, platform);
    let parsed = 0;
    const counted = {
      ...platform,
      get ownHostNames() {
        parsed += 1;
        return [];
      },
    };
    return { ...(await parseKeeping(file, before, counted)), times: () => parsed };
  }

  it('of which every third is broken are parsed twice', slow, async () => {
    const { config, broken, times } = await keptWith(
      filesWith((at) => (at % 3 === 0 ? 'apps: [' : ownText(at))),
    );

    expect([config.apps.length, config.queries?.length, broken.length]).toEqual([666, 666, 334]);
    expect(times()).toBeLessThanOrEqual(2);
  });

  it(
    'of which one of many that have changed takes the gauge of another one are parsed a few times',
    slow,
    async () => {
      const { files: before } = await keptWith(filesWith(ownText));
      const changed = filesWith((at) =>
        at === 400 ? query('q999') : at < 500 ? app(at + 1) + query(`n${at}`) : ownText(at),
      );

      const { config, broken, times } = await keptWith(changed, before);

      expect(broken).toMatchObject([{ name: name(400), isKept: true }]);
      expect(namesOf(config)).toContain('id=10400');
      expect(namesOf(config)).toContain('q999');
      expect(times()).toBeLessThan(20);
    },
  );
});
