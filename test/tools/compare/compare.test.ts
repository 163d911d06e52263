import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { ApplicationSpec } from '../../../src/simulator/fleet-options.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { manyApplications } from '../../faults/fault-bench.ts';
import { type Printed, printedBy } from '../survey/ask-bench.ts';

const account =
  '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567 }';

/** Two hosts of one name, one of its own. */
const shop: SimulatorOptions = {
  fleet: {
    traffic: 'flat',
    applications: [
      {
        id: 11,
        name: 'shop',
        kind: 'web',
        webRpm: 600,
        hosts: [
          { id: 1, name: 'web-1' },
          { id: 2, name: 'web-1' },
          { id: 3, name: 'web-2' },
        ],
      },
    ],
  },
};

async function compared(
  options: SimulatorOptions,
  { poll = '{}', apps = '[{ match: "." }]', of = account } = {},
  rules: readonly FaultRule[] = [],
): Promise<Printed> {
  const config = `accounts: [${of}]\npoll: ${poll}\napps: ${apps}`;
  const args = ['compare', '--all', 'c.yaml'];
  return printedBy(options, args, { 'c.yaml': config }, undefined, rules);
}

/** An account whose REST API lists other applications than NerdGraph. */
function listing(
  applications: readonly ApplicationSpec[],
  change: (application: Application) => Application,
): SimulatorOptions {
  return {
    fleet: { traffic: 'flat', applications },
    intercept: ({ path }) =>
      path === '/v2/applications.json'
        ? (answer) => {
            const list = JSON.parse(answer.body) as { applications: readonly Application[] };
            return {
              ...answer,
              body: JSON.stringify({ applications: list.applications.map(change) }),
            };
          }
        : 'pass',
  };
}

interface Application {
  readonly id: number;
  readonly name: string;
  readonly reporting: boolean;
}

/** The answers of NRQL queries that found nothing. */
function withoutRows(body: string): string {
  return JSON.stringify(JSON.parse(body), (key, value: unknown) => {
    if (key === 'results' && Array.isArray(value)) return [];
    if (!/^(?:other|total)Result$/u.test(key) || value === null) return value;
    return Object.fromEntries(Object.keys(value as object).map((column) => [column, 0]));
  });
}

describe('compare with a simulated account', () => {
  it('joins hosts by their names, and needs few calls of NerdGraph', async () => {
    const { exitCode, stdout, stderr } = await compared(shop);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(`account main
  applications  REST 1, NerdGraph 1
  hosts         REST 2, NerdGraph 2
  values        3 equal
  calls         REST 6, NerdGraph 3
  time          REST 1 s, NerdGraph 1 s

account  application  host           value                    REST  NerdGraph  difference  verdict
main     shop         -              requests_per_minute web   600        600           -  equal
main     shop         web-1 (2 ids)  requests_per_minute web   400        400           -  equal
main     shop         web-2          requests_per_minute web   200        200           -  equal

Switching is safe: 3 of 3 values agree within REST's rounding.
`);
  });

  it('reads all but the one of ten applications whose queries NerdGraph cannot answer', async () => {
    const poison = {
      when: { operation: 'nrql', applicationId: '1003' },
      fault: { kind: 'graphql_error', errorClass: 'INTERNAL_SERVER_ERROR', message: 'oh' },
    } as const;

    const { exitCode, stdout } = await compared(
      { fleet: { traffic: 'flat', applications: manyApplications(10, 2) } },
      {},
      [poison],
    );

    expect(exitCode).toBe(1);
    expect(stdout).toContain('  values        27 equal, 4 not read\n');
    expect(stdout.match(/^main .* not read: .*$/gmu)).toEqual(
      ['-', '-', 'all hosts', 'all hosts'].map((what): unknown =>
        expect.stringMatching(`^main +application 3 +${what} .* of 1 application: .*: oh"`),
      ),
    );
  });

  it('reads everything although its first queries are too long for NerdGraph', async () => {
    const { exitCode, stdout, stderr } = await compared({
      fleet: { traffic: 'flat', applications: manyApplications(10, 2) },
      graphql: { maxNrqlCharacters: 600 },
    });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('Switching is safe: 30 of 30 values agree');
  });

  it('does not call it safe that NerdGraph answers nothing of idle applications', async () => {
    const idle = { id: 11, name: 'shop', kind: 'web' as const, webRpm: 0, hosts: 6 };

    const { exitCode, stdout } = await compared({
      fleet: { applications: [idle] },
      intercept: ({ path }) =>
        path === '/graphql' ? (answer) => ({ ...answer, body: withoutRows(answer.body) }) : 'pass',
    });

    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      '  hosts         REST 6, NerdGraph 0\n  few hosts     11 shop: REST 6, NerdGraph 0\n',
    );
    expect(stdout).toMatch(
      /\nSwitching cannot be judged: NerdGraph has fewer than half of the hosts of 1 application, nothing was busy in account main: run compare again while there is traffic\.\n$/u,
    );
  });

  it.each([
    { what: 'has them in the last hour', hiddenMinutes: 5, reporting: true, found: 6 },
    { what: 'lacks those of a silent one', hiddenMinutes: 60, reporting: false, found: 0 },
  ])('holds no missing hosts against NerdGraph if it $what', async (row) => {
    const idle = { id: 11, name: 'shop', kind: 'web' as const, webRpm: 0, hosts: 6 };
    const { intercept: list } = listing([idle], (one) => ({ ...one, reporting: row.reporting }));

    const { stdout } = await compared({
      fleet: { applications: [idle] },
      intercept: (request, response) => {
        const text = request.graphql?.asks[0]?.text ?? '';
        const [, from, to] = /SINCE (\d+) UNTIL (\d+)$/u.exec(text) ?? [];
        const minutes = (Number(to) - Number(from)) / 60_000;
        return minutes <= row.hiddenMinutes
          ? (answer) => ({ ...answer, body: withoutRows(answer.body) })
          : (list?.(request, response) ?? 'pass');
      },
    });

    expect(stdout).toContain(`  hosts         REST 6, NerdGraph ${row.found}\n`);
    expect(stdout).not.toContain('few hosts');
  });

  it('keeps to what REST allows, whatever the budget for NerdGraph is', async () => {
    const { exitCode, stdout } = await compared(
      { fleet: { applications: [{ id: 1, name: 'shop', kind: 'web', hosts: 1000 }] } },
      { of: account.replace(' }', ', source: nerdgraph, requests_per_minute: 3000 }') },
    );

    // With the list, the application and five pages of names. A refused call would be sent again.
    expect(stdout).toMatch(/\n {2}calls {9}REST 1,007, NerdGraph \d\n/u);
    expect(exitCode).toBe(0);
  });

  it('keeps to what NerdGraph allows, whatever the concurrency for REST is', async () => {
    const windows = [1, 2, 3, 4, 5, 6, 7];
    const { exitCode, stdout } = await compared(
      {
        fleet: {
          applications: windows.map((id) => ({ id, name: `app ${id}`, kind: 'web', hosts: 1 })),
        },
        graphql: { concurrency: 5 },
        latencyMs: 50,
      },
      {
        of: account.replace(' }', ', concurrency: 20 }'),
        apps: `[${windows.map((minutes) => `{ id: ${minutes}, window: ${minutes}m }`).join()}]`,
      },
    );

    expect(stdout).toMatch(/, NerdGraph 15\n/u);
    expect(exitCode).toBe(0);
  });

  it.each([
    { poll: '{ window: 3m }', from: '09:47', to: '09:50' },
    { poll: '{ window: default }', from: '09:20', to: '09:50' },
    { poll: '{ delay: 20m }', from: '09:35', to: '09:40' },
  ])('asks both for one settled window: $poll', async ({ poll, from, to }) => {
    const { targets } = await compared(shop, { poll });

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

  it('compares applications that both lists have, and names the others', async () => {
    const applications = ['a', 'b', 'c'].map(
      (name, index) => ({ id: index + 1, name, kind: 'web', hosts: 0 }) as const,
    );

    const { exitCode, stdout } = await compared(
      listing(applications, (one) => {
        if (one.id === 1) return { ...one, name: 'A' };
        return one.id === 2 ? { ...one, id: 9, reporting: false } : one;
      }),
    );

    expect(exitCode).toBe(1);
    expect(stdout).toContain(`
  applications    REST 3, NerdGraph 3
  only REST       9 b, not reporting
  only NerdGraph  2 b
  other name      1: REST A, NerdGraph a
`);
    expect(stdout).toMatch(
      /\nDo not switch yet: 1 reporting application is only in the list of NerdGraph\.\n$/u,
    );
  });

  it('does not call missing what one list has and could not read', async () => {
    const two = ['a', 'b'].map(
      (name, index) => ({ id: index + 1, name, kind: 'web', hosts: 0 }) as const,
    );

    const { exitCode, stdout } = await compared({
      fleet: { traffic: 'flat', applications: two },
      intercept: ({ path }) =>
        path === '/graphql'
          ? (answer) => ({ ...answer, body: answer.body.replace('"name":"b"', '"name":null') })
          : 'pass',
    });

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^ {2}not found yet +2 b$/mu);
    expect(stdout).not.toContain('only REST');
  });

  it('asks no second time for hosts that NerdGraph failed to name', async () => {
    const forbidden = {
      when: { operation: 'nrql' },
      fault: { kind: 'graphql_error', errorClass: 'ACCESS_DENIED', message: 'no' },
    } as const;

    const { exitCode, targets } = await compared(shop, {}, [forbidden]);

    expect(exitCode).toBe(1);
    // One for the values of the application, and one for those of its hosts.
    expect(targets.filter((target) => target.includes('UNTIL'))).toHaveLength(2);
  });

  it.each([
    { kind: 'web', values: '2 equal' },
    { kind: 'not_reporting', values: 'none' },
  ] as const)('asks about what either list calls reporting: $values', async ({ kind, values }) => {
    const { stdout, targets } = await compared(
      listing([{ id: 1, name: 'a', kind, webRpm: 60, hosts: 1 }], (one) => ({
        ...one,
        reporting: false,
      })),
    );

    const asked = targets.filter((target) => /metrics\/data|timeslice/u.test(target));
    expect(asked.length > 0).toBe(kind === 'web');
    expect(stdout).toContain(`  values        ${values}\n`);
  });

  it('says what was not read', async () => {
    const { exitCode, stdout } = await compared(shop, {}, [
      { when: { hostId: '3' }, fault: { kind: 'status', status: 500 } },
    ]);

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^main +shop +web-2 .* not read: REST: .*status 500/mu);
    expect(stdout).toContain('  values        2 equal, 2 not read\n');
  });

  it.each([
    { name: 'REST', when: { endpoints: ['applications'] } },
    { name: 'NerdGraph', when: { operation: 'entity_search' } },
  ] as const)('does not judge from half a list of $name', async ({ name, when }) => {
    const fault = { kind: 'status', status: 403 } as const;

    const { exitCode, stderr } = await compared(shop, {}, [{ when, fault }]);

    expect(exitCode).toBe(1);
    expect(stderr).toContain(`account main: not compared: the discovery with ${name} failed: `);
  });

  it('suspects another account if the lists have nothing in common', async () => {
    const { stderr } = await compared(
      listing([{ id: 1, name: 'a', kind: 'web' }], (one) => ({ ...one, id: 2 })),
    );

    expect(stderr).toContain(
      'account main: not compared: the lists of REST (1 application) and NerdGraph (1) have nothing in common: check account_id',
    );
  });

  it('agrees for any account that New Relic may have, as soon as anything is busy', async () => {
    const anyAccount = fc.record({
      seed: fc.integer({ min: 1 }),
      applications: fc.integer({ min: 1, max: 30 }),
      hosts: fc.integer({ min: 0, max: 60 }),
      churnPerHour: fc.constantFrom(0, 30),
      idleMetric: fc.constantFrom('zero', 'not_found'),
      appIds: fc.constantFrom('string', 'number'),
      entityPageSize: fc.constantFrom(3, 200),
      window: fc.constantFrom('5m', '1m', '1h', 'default'),
      raw: fc.boolean(),
    });

    await fc.assert(
      fc.asyncProperty(anyAccount, async (drawn) => {
        const { seed, applications, hosts, churnPerHour, window, raw } = drawn;
        const { stdout } = await compared(
          {
            fleet: { seed, applications, hosts, churnPerHour },
            idleMetric: drawn.idleMetric,
            graphql: { appIds: drawn.appIds, entityPageSize: drawn.entityPageSize },
          },
          { poll: `{ window: ${window}, raw: ${raw} }` },
        );

        const rows = stdout.split('\n').map((line) => line.split(/ {2,}/u));
        const busy = rows.filter(([of, , , , rest]) => of === 'main' && Number(rest) > 0);
        const isBusy = {
          application: busy.some(([, , host]) => host === '-'),
          host: busy.some(([, , host]) => host !== '-'),
        };
        const hasHosts = !stdout.includes('hosts         REST 0,');
        const isSafe = isBusy.application && (isBusy.host || !hasHosts);
        expect(stdout).not.toContain('few hosts');
        expect(stdout).toContain(
          isSafe ? '\nSwitching is safe: ' : '\nSwitching cannot be judged: ',
        );
      }),
      { numRuns: 15 },
    );
  });
});
