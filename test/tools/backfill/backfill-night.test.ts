import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/simulator/fault.ts';
import type { FaultCondition } from '../../../src/simulator/fault-rule.ts';
import type { Intercept } from '../../../src/simulator/simulator-options.ts';
import { eachAfter, slow } from '../../support/slow.ts';
import {
  type Backfilled,
  backfilled,
  shortRun as run,
  stopAt,
  temporaryDirectory,
  undisturbed,
} from './backfill-bench.ts';

const ofQuery = 'FACET host LIMIT 50 SINCE';
const goOn = 'what was fetched is kept: start the same command again to go on';
const refusal: Fault = {
  kind: 'graphql_error',
  errorClass: 'INVALID_INPUT',
  message: "NRQL Syntax Error: Error at line 1 position 9, unexpected 'x'",
};

/** Takes some rows out of an answer to the query behind the estimate. */
function rowsGone(isGone: (row: { readonly beginTimeSeconds?: number }) => boolean): Intercept {
  let asked = 0;
  return ({ graphql }) => {
    if (graphql?.text.includes(ofQuery) !== true) return 'pass';
    asked += 1;
    if (asked !== 3) return 'pass';
    return (answer) => ({
      ...answer,
      body: JSON.stringify(JSON.parse(answer.body), (name, value: unknown): unknown =>
        name === 'results' && Array.isArray(value)
          ? value.filter((row: { readonly beginTimeSeconds?: number }) => !isGone(row))
          : value,
      ),
    });
  };
}

/** A New Relic that accepts no more windows than that. */
function acceptsWindows(most: number): Intercept {
  return ({ graphql }, response) => {
    const [, from = 0, to = 0, length = 1, step = 1] = (
      /SINCE (\d+) UNTIL (\d+) TIMESERIES (\d+) SLIDE BY (\d+)/u.exec(graphql?.text ?? '') ?? []
    ).map(Number);
    if ((to - from - length) / step + 1 <= most) return 'pass';
    response.writeHead(200, { 'content-type': 'application/json' });
    const error = {
      message: 'too many buckets',
      extensions: { errorClass: 'INVALID_INPUT' },
    };
    response.end(JSON.stringify({ data: { actor: { account: { nrql: null } } }, errors: [error] }));
    return 'handled';
  };
}

let whole: Backfilled;
beforeAll(async () => {
  whole = await undisturbed(run);
});

describe('one bad answer in a night', () => {
  const second = { calls: { first: 6, last: 6 } };
  const oneQuery = { queryIncludes: ofQuery, calls: { first: 3, last: 3 } };
  const timeout: Fault = { kind: 'graphql_error', errorClass: 'TIMEOUT', message: 'no' };

  it.each<[what: string, Fault, FaultCondition, most: number, says: string]>([
    ['the page of a proxy', { kind: 'html' }, second, 1, 'the answer is not JSON'],
    ['nothing', { kind: 'empty' }, second, 1, 'the answer is empty'],
    ['half a document', { kind: 'truncated_json' }, second, 1, 'the answer is not JSON'],
    ['another document', { kind: 'document', body: '{"data":{}}' }, oneQuery, 1, 'grouped by'],
    ['a 401', { kind: 'status', status: 401 }, second, 1, 'status 401'],
    ['a 403', { kind: 'status', status: 403 }, second, 1, 'status 403'],
    ['a 404', { kind: 'status', status: 404 }, second, 1, 'status 404'],
    ['sums that disagree', { kind: 'short', keep: 0, sign: 'none' }, oneQuery, 1, 'adds up to'],
    ['forty timeouts', timeout, { calls: { first: 6, last: 45 } }, 130, 'TIMEOUT'],
  ])('is asked again: %s', slow, async (_, fault, when, most, says) => {
    const { exitCode, calls, output, stderr } = await backfilled({
      ...run,
      rules: [{ fault, when }],
    });

    expect({ exitCode, output }).toEqual({ exitCode: 0, output: whole.output });
    expect(calls - whole.calls).toBeLessThanOrEqual(most);
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/next poll|next discovery/u);
  });

  eachAfter(1, [
    {
      what: 'a bucket',
      intercept: rowsGone(
        (row) => row.beginTimeSeconds === Date.parse('2026-09-01T00:30:00Z') / 1000,
      ),
      says: 'the answer lacks the 5 minutes from 2026-09-01T00:30:00.000Z',
    },
    { what: 'all rows', intercept: rowsGone(() => true), says: 'adds up to' },
  ])(
    'is asked again if it lacks $what, and says nothing of base_url',
    async ({ intercept, says }) => {
      const { exitCode, calls, output, stderr } = await backfilled({
        ...run,
        options: { ...run.options, intercept },
      });

      expect({ exitCode, calls, output }).toEqual({
        exitCode: 0,
        calls: whole.calls + 1,
        output: whole.output,
      });
      expect(stderr).toContain(says);
      expect(stderr).not.toContain('base_url');
    },
  );
});

describe('a query that is refused', () => {
  eachAfter(1, [200, 7, 1])(
    'is asked about fewer windows, with the same result: New Relic accepts %i',

    async (most) => {
      const { exitCode, output } = await backfilled({
        ...run,
        flags: [run.flags[0] ?? '', '--to=2026-08-31T23:30:00Z'],
        options: { ...run.options, intercept: acceptsWindows(most) },
      });
      const usual = await undisturbed({
        ...run,
        flags: [run.flags[0] ?? '', '--to=2026-08-31T23:30:00Z'],
      });

      expect({ exitCode, output }).toEqual({ exitCode: 0, output: usual.output });
    },
  );

  it(
    'is refused for good when it is about one window: the others are asked, and it is named',
    slow,
    async () => {
      const directory = await temporaryDirectory();
      const rules = [{ fault: refusal, when: { queryIncludes: ofQuery } }];
      const refused = await backfilled({ ...run, directory, rules });
      const next = await backfilled({ ...run, directory });

      expect(refused).toMatchObject({ exitCode: 1, output: undefined });
      expect(refused.calls).toBeLessThan(whole.calls + 30);
      expect(refused.elapsedMs).toBeLessThan(60_000);
      expect(refused.stderr).toContain("unexpected 'x'");
      expect(refused.stderr).toMatch(
        /^missing: account main, query calls_by_host, 2026-08-31T\S+Z to 2026-09-01T07:57:00Z$/mu,
      );
      expect(refused.stderr.split('missing: ')).toHaveLength(2);
      expect(refused.stderr.endsWith(`${goOn}\n`)).toBe(true);
      expect(next).toMatchObject({ exitCode: 0, output: whole.output });
      expect(next.targets.filter((text) => !text.includes(ofQuery))).toEqual([]);
    },
  );
});

describe('a run', () => {
  it('says at a stop that the same command goes on', async () => {
    const { exitCode, stderr } = await backfilled({ ...run, beforeCall: stopAt(3) });

    expect(exitCode).toBe(143);
    expect(stderr.endsWith(`${goOn}\ninterrupted before it was done\n`)).toBe(true);
  });

  it('without --to goes up to now when its file was moved away', slow, async () => {
    const directory = await temporaryDirectory();
    const nightly = { ...run, directory, flags: [run.flags[0] ?? ''] };
    const path = join(directory, 'past.om');
    const first = await backfilled(nightly);
    const again = await backfilled({ ...nightly, at: '2026-09-01T11:00:30Z' });
    await rename(path, join(directory, 'first.om'));
    const second = await backfilled({ ...nightly, at: '2026-09-01T11:00:30Z' });
    const lastOf = ({ output = '' }: Backfilled): number =>
      Math.max(...[...output.matchAll(/ (\d+)$/gmu)].map(([, time]) => Number(time)));

    expect([first.exitCode, again.exitCode, again.calls, second.exitCode]).toEqual([0, 0, 0, 0]);
    expect(lastOf(second) - lastOf(first)).toBe(3600);
  });

  it('has three calls of a key in flight, of all its accounts', slow, async () => {
    const sentMs: number[] = [];
    const account = (name: string): string =>
      `{ name: ${name}, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567, source: nerdgraph }`;
    const { exitCode } = await backfilled({
      ...run,
      file: `accounts: [${account('one')}, ${account('other')}]\npoll: { metrics: [throughput] }\napps: [{ account: one, match: "." }, { account: other, match: "." }]\n`,
      flags: ['--from=2026-08-30T02:00:00Z', '--to=2026-09-01T08:00:00Z'],
      options: { ...run.options, latencyMs: 5000 },
      beforeCall: (_, { clock }) => sentMs.push(clock.monotonicMs()),
    });
    const together = sentMs.map(
      (one) => sentMs.filter((other) => other > one - 5000 && other <= one).length,
    );

    expect(exitCode).toBe(0);
    expect(Math.max(...together)).toBe(3);
  });
});
