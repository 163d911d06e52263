import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { printedOn } from '../survey/ask-bench.ts';
import {
  a,
  account,
  answering,
  type Circumstances,
  compared,
  failing,
  idle,
  listing,
  safe,
  shop,
  ten,
  unclear,
  unsafe,
  withoutId,
  withoutRows,
} from './compare-rows.ts';

const onOne = 'main: not compared: ';
describe('compare', () => {
  it('joins hosts by their names, and needs few calls of NerdGraph', async () => {
    const { exitCode, stdout, stderr } = await compared();

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(`account main
  applications  REST 1, NerdGraph 1
  hosts         REST 2, NerdGraph 2
  values        3 equal
  calls         REST 6, NerdGraph 3

account  application  host           value                    REST  NerdGraph  difference  verdict
main     shop         -              requests_per_minute web   600        600           -  equal
main     shop         web-1 (2 ids)  requests_per_minute web   400        400           -  equal
main     shop         web-2          requests_per_minute web   200        200           -  equal

Switching is safe: 3 equal.
`);
  });

  it.each([
    ...safe.map((row) => ({ code: 0, row })),
    ...[...unsafe, ...unclear].map((row) => ({ code: 1, row })),
  ])('ends with $code for $row.0', async ({ code, row: [, how, ...says] }) => {
    const { exitCode, stdout } = await compared(how);

    const isThere = (text: string | RegExp): boolean =>
      typeof text === 'string' ? stdout.includes(text) : text.test(stdout);
    expect(says.filter((text) => !isThere(text))).toEqual([]);
    expect(exitCode).toBe(code);
  });

  it('shows ten values that agree, and with --all the rest', async () => {
    const few = await compared({ has: ten, args: ['c.yaml'] });
    const all = await compared({ has: ten });

    expect(few.stdout.match(/^main .* equal$/gmu)).toHaveLength(10);
    expect(few.stdout).toContain('\nand 20 more that agree; --all shows them\n\nSwitching is ');
    expect(all.stdout.match(/^main .* equal$/gmu)).toHaveLength(30);
  });

  it('says what docs/nerdgraph.md shows', async () => {
    const document = readFileSync(new URL('../../../docs/nerdgraph.md', import.meta.url), 'utf8');
    const shown = /^\$ newrelic-exporter compare\n([\s\S]*?)^```$/mu.exec(document);
    const old = '{"id":31584797,"name":"shop-old","reporting":false,"links":{}},';
    const listed = answering(/applications\.json/u, (body) => body.replace('[', `[${old}`));
    const wrong = answering(/hosts\/3\/metrics/u, (body) => body.replace('200', '180'));

    const { stdout } = await compared({
      has: [{ ...shop, name: 'shop-cart' }],
      intercept: (request, response) =>
        (/hosts/u.test(request.path) ? wrong : listed)(request, response),
      of: account.replace('main', 'production'),
      args: ['c.yaml'],
    });

    expect(stdout).toBe(shown?.[1] ?? 'no example');
  });

  it.each([
    { what: 'in the last hour', hiddenMinutes: 5, reporting: true, found: 6 },
    { what: 'of a silent application', hiddenMinutes: 60, reporting: false, found: 0 },
    {
      what: 'among those that the entry chooses',
      has: [{ ...shop, webRpm: 0 }],
      apps: '[{ match: ".", hosts: { match: "^web-2$" } }]',
      hiddenMinutes: 5,
      reporting: true,
      listed: 1,
      found: 1,
    },
  ])('holds no missing hosts $what against NerdGraph', async (row) => {
    const list = listing((one) => ({ ...one, reporting: row.reporting }));

    const { stdout } = await compared({
      has: row.has ?? [idle],
      apps: row.apps ?? '[{ match: "." }]',
      intercept: (request, response) => {
        const text = request.graphql?.asks[0]?.text ?? '';
        const [, from, to] = /SINCE (\d+) UNTIL (\d+)$/u.exec(text) ?? [];
        return (Number(to) - Number(from)) / 60_000 <= row.hiddenMinutes
          ? (answer) => ({ ...answer, body: withoutRows(answer.body) })
          : list(request, response);
      },
    });

    const { listed = 6, found } = row;
    expect(stdout).toContain(`  hosts         REST ${listed}, NerdGraph ${found}\n`);
    expect(stdout).not.toContain('few hosts');
  });

  it.each([
    { poll: '{ window: 3m }', from: '09:47', to: '09:50' },
    { poll: '{ window: default }', from: '09:20', to: '09:50' },
    { poll: '{ delay: 20m }', from: '09:35', to: '09:40' },
  ])('asks both for one settled window: $poll', async ({ poll, from, to }) => {
    const { targets } = await compared({ poll });

    const windows = targets.flatMap((target) => {
      const rest = /&from=(\S+)&to=(\S+)$/u.exec(target);
      const nrql = /SINCE (\d+) UNTIL (\d+)$/u.exec(target);
      const [, ...ends] = rest ?? nrql ?? [];
      return ends.length === 0 ? [] : [ends.map((end) => (rest ? Date.parse(end) : Number(end)))];
    });
    const wanted = [from, to].map((time) => Date.parse(`2026-09-01T${time}:00Z`));
    expect(windows.length).toBeGreaterThan(5);
    expect(new Set(windows.map(String))).toEqual(new Set([String(wanted)]));
  });

  it.each<readonly [code: number, says: string, how: Circumstances]>([
    [
      1,
      'account other: not compared: account_id is not in the configuration',
      {
        of: `${account}, ${withoutId.replace('main', 'other')}`,
        apps: '[{ match: ".", account: main }, { match: ".", account: other }]',
      },
    ],
    [
      1,
      `${onOne}the discovery with REST failed: list_applications: status 401`,
      { of: account.replace('KEY', 'WRONG_KEY') },
    ],
    [1, `${onOne}the discovery with REST `, { rules: failing({ endpoints: ['applications'] }) }],
    [
      1,
      `${onOne}the discovery with NerdGraph failed: `,
      { rules: failing({ operation: 'entity_search' }, 403) },
    ],
    [
      1,
      `${onOne}the lists of REST (1 application) and NerdGraph (1) have nothing in common: check account_id`,
      { has: [a], intercept: listing((one) => ({ ...one, id: 2 })) },
    ],
    [2, `${onOne}account_id is not in the configuration`, { of: withoutId }],
    [2, 'variable NO_KEY is not set', { of: account.replace('KEY', 'NO_KEY') }],
    [2, 'the configuration file does not exist', { args: ['missing.yaml'] }],
    [
      2,
      'cannot be judged: there are no applications to compare',
      {
        of: account.replace('}', ', source: nerdgraph }'),
        apps: '[]\nqueries: [{ as: a, nrql: SELECT count(*) FROM Transaction }]',
      },
    ],
  ])('ends with %i where nothing can be compared: %s', async (code, says, how) => {
    const { exitCode, stderr, calls, open } = await compared(how);

    expect(stderr).toContain(says);
    expect([exitCode, open, calls > 0]).toEqual([code, 0, code === 1]);
  });

  it('ends at once when it is interrupted, and prints nothing', async () => {
    const files = { 'c.yaml': `accounts: [${account}]\napps: [{ match: "." }]` };
    const options = { fleet: { applications: ten } };
    const stop: Parameters<typeof printedOn>[6] = (call, platform) => {
      if (call === 5) platform.stop();
    };

    const printed = await printedOn({}, options, ['compare', 'c.yaml'], files, undefined, [], stop);

    expect(printed).toMatchObject({ exitCode: 143, stdout: '' });
    expect(printed.calls).toBeLessThan(10);
  });
});
