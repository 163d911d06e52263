import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountOf, backfilled, smallRun, temporaryDirectory } from './backfill-bench.ts';

const run = smallRun;
const { file } = run;

describe('backfill, asked for what cannot be', () => {
  const from = '--from=2026-08-31T02:00:00Z';
  it.each([
    { flags: [], says: 'needs --from=TIME' },
    { flags: ['--from=yesterday'], says: 'expected a point in time such as' },
    {
      flags: [from, '--to=2026-09-02T00:00:00Z'],
      says: '--to=2026-09-02T00:00:00Z is in the future',
    },
    { flags: [from, '--to=2026-08-31T02:00:00Z'], says: 'is not before --to=2026-08-31T02:00:00Z' },
    { flags: ['--from=2025-07-01T00:00:00Z'], says: 'New Relic keeps nothing so old' },
    { flags: [from, '--step=2m'], says: '--step=2m is no divisor of the window of apps' },
    { flags: [from, '--step=30s'], says: 'a duration of whole minutes' },
    { flags: [from, '--app=none'], says: '--app=none: there is no such application' },
    { flags: [from, '--only=hosts'], says: 'expected all, apps or queries' },
    { flags: [from], text: file.replace('account_id: 1234567', 'name2: 1'), says: 'unknown key' },
    {
      flags: [from],
      text: `${accountOf('rest').replace('account_id: 1234567,', '')}apps: [{ match: "." }]`,
      says: 'account_id is not in the configuration, and NerdGraph needs it: add it',
    },
    {
      flags: [from],
      text: file.replace('LIMIT 50" }', 'LIMIT 50", window: 7h }'),
      says: '--step=1m is less than a 366th of the window of calls_by_host',
    },
    { flags: [from, '--label='], says: '--label: "" is not valid: expected NAME=VALUE' },
    { flags: [from, '--label=job'], says: '--label: "job" has no value: write --label=NAME=VALUE' },
    { flags: [from, '--label=job='], says: '"job" has no value' },
    { flags: [from, '--label=1st=a'], says: '"1st" is not a valid label name: use letters' },
    { flags: [from, '--label=__name__=a'], says: '"__name__" is not allowed as a label name' },
    {
      flags: [from, '--label=job=a', '--label=job=b'],
      says: '--label: "job" is given twice: write it once',
    },
    ...['app_id', 'host_name', 'quantile'].map((name) => ({
      flags: [from, `--label=${name}=a`],
      says: `--label: "${name}" is a label of the exporter itself: choose another name, or leave it out`,
    })),
    ...['team', 'env', 'queue', 'host', 'site'].map((name) => ({
      flags: [from, `--label=${name}=a`],
      text: file
        .replace(
          'throughput',
          '{ metric: Custom/Queue/Depth, as: q, value: call_count, labels: { queue: a } }',
        )
        .replace('poll: {', 'poll: { tags: { environment: env },')
        .replace('match: "."', 'match: ".", labels: { team: a }')
        .replace('LIMIT 50"', 'LIMIT 50", constant_labels: { site: a }'),
      says: `--label: "${name}" is a label that the configuration gives to series: choose another name, or leave it out`,
    })),
    {
      flags: [from, '--label=zone=a'],
      text: `${accountOf('nerdgraph').replace('account_id', 'labels: { zone: a }, account_id')}queries: [{ as: calls, nrql: SELECT count(*) FROM Transaction }]`,
      says: '--label: "zone" is a label that the configuration gives to series',
    },
  ])('says so: $flags', async ({ flags: wrong, says, text = file }) => {
    const { exitCode, stderr, left, output } = await backfilled({
      ...run,
      file: text,
      flags: wrong,
    });

    expect({ exitCode, left, output }).toEqual({ exitCode: 2, left: [], output: undefined });
    expect(stderr).toContain(says);
  });

  it('says where it cannot write', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'past.om.parts'), 'no directory');
    const { exitCode, stderr, output } = await backfilled({ ...run, directory });

    expect({ exitCode, output }).toEqual({ exitCode: 1, output: undefined });
    expect(stderr).toContain('EEXIST');
    expect(stderr).not.toContain('is kept');
  });
});
