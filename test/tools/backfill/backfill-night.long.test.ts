import { beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/simulator/fault.ts';
import type { FaultCondition } from '../../../src/simulator/fault-rule.ts';
import {
  type Backfilled,
  backfilled,
  smallRun as run,
  temporaryDirectory,
  undisturbed,
} from './backfill-bench.ts';

const ofQuery = 'FACET host LIMIT 50 SINCE';
const timeout: Fault = { kind: 'graphql_error', errorClass: 'TIMEOUT', message: 'no' };
const later = { calls: { first: 9 } };
const halfAnHour = { fromMs: 3000, untilMs: 1_800_000 };

describe('backfill, in a bad night', () => {
  let whole: Backfilled;
  beforeAll(async () => {
    whole = await undisturbed(run);
  });

  it.each<[what: string, Fault, FaultCondition, more: number]>([
    ['a refused key', { kind: 'status', status: 401 }, halfAnHour, 60],
    ['a page of a proxy', { kind: 'html' }, halfAnHour, 60],
    ['an outage', { kind: 'status', status: 503 }, halfAnHour, 100],
  ])('waits out half an hour of %s', async (_, fault, when, more) => {
    const { exitCode, output, calls } = await backfilled({ ...run, rules: [{ fault, when }] });

    expect([exitCode, output === whole.output]).toEqual([0, true]);
    expect(calls).toBeLessThan(whole.calls + more);
  });

  it.each<[what: string, Fault, FaultCondition, most: number, says: string]>([
    ['a refused key', { kind: 'status', status: 401 }, later, 60, 'Check the API key'],
    ['an outage', { kind: 'status', status: 503 }, later, 130, 'which may pass by itself'],
    ['pages of a proxy', { kind: 'html' }, { queryIncludes: ofQuery }, 60, 'not JSON'],
    ['timeouts', timeout, { queryIncludes: ofQuery }, 300, 'ask for less'],
  ])('ends after an hour of %s, says what is missing, and fetches just that', async (...row) => {
    const [, fault, when, most, says] = row;
    const directory = await temporaryDirectory();
    const broken = await backfilled({ ...run, directory, rules: [{ fault, when }] });
    const parts = broken.left.filter((name) => name.endsWith('.part')).length;
    const next = await backfilled({ ...run, directory });

    expect(broken).toMatchObject({ exitCode: 1, output: undefined });
    expect(broken.elapsedMs).toBeLessThan(4_500_000);
    expect(broken.calls).toBeLessThan(most);
    expect(broken.stderr).toContain(says);
    expect(broken.stderr).toMatch(
      /^missing: account main, query calls_by_host, 2026-08-3\S+ to /mu,
    );
    expect([next.exitCode, next.output === whole.output]).toEqual([0, true]);
    // Without the list of applications, and what each query has.
    expect(next.calls).toBe(whole.calls - 2 - parts);
  });
});
