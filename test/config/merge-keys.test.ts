import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { effectiveConfigText } from '../../src/config/effective-config.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import { slow } from '../support/slow.ts';
import { findingsIn, placesOf, type Row, wordsOf } from './config-failure.ts';
import { loaded, main, platformWith, refusalOf } from './including.ts';

async function configOf(text: string) {
  const { config, warnings } = await parseConfig(text, { fileName: 'f', directory: '/' });
  expect(warnings).toEqual([]);
  return config;
}

const defaults = 'x-d: &d { hosts: false, interval: 5m, labels: &l { team: a } }';

const same: readonly (readonly [merged: string, written: string])[] = [
  [
    `${defaults}\napps: [{ <<: *d, id: 1 }]`,
    '{ id: 1, hosts: false, interval: 5m, labels: { team: a } }',
  ],
  [
    `${defaults}\napps: [{ id: 1, hosts: true, <<: *d }]`,
    '{ id: 1, interval: 5m, labels: { team: a } }',
  ],
  [
    `${defaults}\napps: [{ id: 1, labels: { <<: *l, env: b } }]`,
    '{ id: 1, labels: { team: a, env: b } }',
  ],
  [
    `${defaults}\nx-e: &e { raw: true, interval: 2m }\napps: [{ id: 1, <<: [*e, *d] }]`,
    '{ id: 1, raw: true, interval: 2m, hosts: false, labels: { team: a } }',
  ],
  [
    `${defaults}\nx-e: &e { <<: *d, interval: 2m }\napps: [{ id: 1, <<: *e }]`,
    '{ id: 1, interval: 2m, hosts: false, labels: { team: a } }',
  ],
  ['apps: [{ id: 1, <<: { raw: true } }]', '{ id: 1, raw: true }'],
  ['x-: 1\nx-none:\nx-y: [1, { z: 0x10 }, "“a”"]\napps: [{ id: 1 }]', '{ id: 1 }'],
];

const wrong: readonly Row[] = [
  // What is wrong in a map is placed where it is written, once, however often it is merged.
  [
    'x-d: &d { hosts: maybe }\napps: [{ <<: *d, id: 1 }, { <<: *d, id: 2 }]',
    '1:18',
    'true, false, self',
  ],
  ['x-d: &d { idd: 1 }\napps: [{ <<: *d, id: 1 }]', '1:11', 'unknown key "idd"'],
  ['x-d: &d { interval: 60 }\napps: [{ <<: *d, id: 1 }]', '1:21', 'needs a unit'],
  ['x-d: &d { name: a }\napps: [{ <<: *d, id: 1 }]', '2:18', '"name" and "id" exclude each other'],
  ['x-d: &d { labels: { job: a } }\napps: [{ <<: *d, id: 1 }]', '1:21', 'scrape targets'],
  ['x-d: &d { raw: 1 }\napps: [{ <<: *d, id: 1, raw: true }]', '', ''],
  ['apps: [{ <<: 1, id: 1 }]', '1:14', '"<<" must be a map, or a list of maps', '<<: *name'],
  ['apps: [{ <<: [], id: 1 }]', '1:14', '"<<" must be a map'],
  ['apps: [{ <<: [{ raw: true }, 1], id: 1 }]', '1:14', '"<<" must be a map'],
  ['apps: [{ <<: *d, id: 1 }]', '1:14', 'the alias "*d" stands for nothing'],
  ['x-d: &d {}\napps: [{ <<: *d, <<: *d, id: 1 }]', '2:18', 'duplicate key "<<"'],
  ['x-key: NRAK-ABC\napps: [{ id: 1 }]', '1:8', 'the API key must not be in this file'],
  [
    'x-d: &d { api_key: a }\naccounts: [{ <<: *d, name: a }]\napps: [{ id: 1 }]',
    '1:11',
    'must not be in',
  ],
  ['poll: { x-a: 1 }\napps: [{ id: 1 }]', '1:9', 'unknown key "x-a"'],
  ['x-a: 1', '1:1', 'missing key "apps"'],
];

describe('merge keys, and keys that begin with x-', () => {
  it.each(same)('mean what is written out: %s', async (merged, written) => {
    expect(await configOf(merged)).toEqual(await configOf(`apps: [${written}]`));
  });

  it.each(wrong)('have their errors where they are written: %s', async (text, places, ...facts) => {
    const found = await findingsIn(text);

    expect(placesOf(found)).toBe(places);
    for (const fact of facts) expect(wordsOf(found)).toContain(fact);
  });

  it('work in included files, which have anchors of their own', async () => {
    const team = 'x-d: &d { hosts: false }\napps: [{ <<: *d, id: 1 }]\n';
    const { apps } = await loaded({ '/etc/nr/config.yaml': main, '/etc/nr/teams/a.yaml': team });
    const broken = {
      '/etc/nr/config.yaml': main,
      '/etc/nr/teams/a.yaml': team.replace('false', 'no'),
    };

    expect(apps.map(({ hosts }) => hosts)).toEqual([false]);
    expect(await refusalOf(platformWith(broken))).toContain('/etc/nr/teams/a.yaml:1:18: "hosts"');
  });

  it('are written out by print-config', async () => {
    const printed = effectiveConfigText(await configOf(`${defaults}\napps: [{ <<: *d, id: 1 }]`));

    expect(printed).toContain('hosts: false');
    expect(printed).not.toMatch(/x-d|<<|[&*]/u);
  });

  it('refuse a bomb of merged maps', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
    const maps = names.slice(1).map((name, index) => {
      const merged = Array.from({ length: 20 }, () => `*m${index}`).join(', ');
      return `x-${name}: &${name} { a: { <<: [${merged}] }, ${name}: [${merged}] }`;
    });

    const found = await findingsIn(['x-m0: &m0 { a: 1, b: 2 }', ...maps, 'apps: []'].join('\n'));

    expect(wordsOf(found)).toContain('the aliases stand for more than 100000 values');
  });

  it('mean what is written out, whatever is merged', slow, async () => {
    const some = fc.record(
      {
        raw: fc.boolean(),
        interval: fc.constantFrom('60s', '2m'),
        hosts: fc.constantFrom(false, true),
        labels: fc.constantFrom({ team: 'a' }, { env: 'b' }),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 4 }), some, async (maps, own) => {
        const anchors = maps.map((map, index) => `x-${index}: &m${index} ${JSON.stringify(map)}\n`);
        const aliases = maps.map((_, index) => `*m${index}`).join(', ');
        const entry = JSON.stringify({ id: 1, ...own }).slice(1);
        const merged = `${anchors.join('')}apps: [{ <<: [${aliases}], ${entry}]\n`;
        const flat = Object.assign({}, ...maps.toReversed(), { id: 1, ...own });

        expect(await configOf(merged)).toEqual(await configOf(stringify({ apps: [flat] })));
      }),
      { numRuns: 100 },
    );
  });
});
