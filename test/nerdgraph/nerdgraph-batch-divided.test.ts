import { describe, expect, it } from 'vitest';
import { applicationScope } from '../../src/model/poll-outcome.ts';
import { applicationMetrics } from '../../src/model/snapshot.ts';
import { createRecordedMetrics } from '../../src/nerdgraph/recorded-metrics.ts';
import { aSelected } from '../support/builders.ts';
import { aBench, apps, isAbout, row, slow } from './a-batch.ts';
import { hostsNamed } from './some-fleet.ts';

describe('a query that is too large', () => {
  it.each([
    { what: 'truncated', failing: 'truncated' as const },
    { what: 'slow', failing: slow },
  ])('because it is $what is asked in two parts in the next stage', async ({ failing }) => {
    const { run, questions, sizes } = aBench(
      apps(40, 1, { hosts: false }),
      ({ applications, nrql }) =>
        applications === 40 ? failing : [row(nrql.includes('(1,2,') ? '1' : '21', { web: 5 })],
    );
    const { stages, outcomes } = await run();

    expect(stages).toEqual([1, 2]);
    expect(questions.map(({ applications }) => applications)).toEqual([40, 20, 20]);
    expect(outcomes.filter(({ failed }) => failed.size > 0)).toEqual([]);
    expect(
      [0, 1, 20, 21].map((index) => applicationMetrics(outcomes[index]?.reading).get('web')),
    ).toEqual([1, undefined, 1, undefined]);
    expect(outcomes.map(({ extraCalls }) => extraCalls).filter((calls) => calls > 0)).toEqual([2]);
    expect(sizes.current().applications).toBe(100);
  });

  it('is not divided because it is slow if it is small: then it is not the query', async () => {
    const { run } = aBench(apps(25, 1, { hosts: false }), () => slow);
    const { stages, outcomes } = await run();

    expect(stages).toEqual([1]);
    expect(new Set(outcomes.map(({ error }) => error))).toEqual(new Set([slow]));
  });

  it('is divided until every part is answered, however often it is truncated', async () => {
    const { run } = aBench(apps(64, 1, { hosts: false }), ({ applications }) =>
      applications > 1 ? 'truncated' : [],
    );
    const { stages, outcomes } = await run();

    expect(stages).toEqual([1, 2, 4, 8, 16, 32, 64]);
    expect(outcomes.every(({ failed }) => failed.size === 0)).toBe(true);
    expect(outcomes.reduce((sum, { extraCalls }) => sum + extraCalls, 0)).toBe(126);
  });

  it('is divided twice while New Relic is slow, and no more', async () => {
    const { run, sizes } = aBench(apps(64, 1, { hosts: false }), () => slow);
    const { stages, outcomes } = await run();

    expect(stages).toEqual([1, 2, 4]);
    expect(outcomes.every(({ error }) => error === slow)).toBe(true);
    expect(sizes.current().applications).toBeLessThan(100);
  });

  it('is never used in part: what stays truncated has failed, and says so', async () => {
    const { run } = aBench(apps(1, 1), () => 'truncated');
    const { outcomes } = await run();

    expect(outcomes[0]).toMatchObject({
      reading: undefined,
      failed: new Set([applicationScope, 'host-0']),
    });
    expect(outcomes[0]?.error?.message).toContain(
      'application_metrics of 1 application: the answer has more rows than New Relic returns, however it is divided. The query takes too long or returns too much',
    );
  });

  it('brings all hosts of an application, each from one part', async () => {
    const most = 20;
    const hosts = hostsNamed(150).map((name) => `${name}.example.com`);
    const { run } = aBench([aSelected({ hostIds: hosts })], (question) => {
      const rows = hosts
        .filter((name) => isIn(question.nrql, name))
        .map((name) => row('1', { web: 5 }, name));
      return isAbout('host')(question) && rows.length > most ? 'truncated' : rows;
    });
    const { outcomes } = await run();

    expect(outcomes[0]?.reading?.hosts.size).toBe(150);
    expect([...(outcomes[0]?.reading?.hosts.values() ?? [])].every(([web]) => web === 1)).toBe(
      true,
    );
  });

  it('costs no more than two calls for each host, even if nothing is ever whole', async () => {
    const { run, questions } = aBench(apps(1, 50, { application: false }), () => 'truncated');
    await run();

    expect(questions.length).toBeLessThanOrEqual(100);
  });

  it('about recorded metrics leaves the size of others alone', async () => {
    const { run, sizes } = aBench(
      apps(4, 1, { hosts: false }),
      ({ mayShift, applications }) => (mayShift && applications > 1 ? slow : []),
      { recorded: createRecordedMetrics() },
    );
    const { stages, outcomes } = await run();

    expect(stages).toEqual([2, 2, 4]);
    expect(sizes.current().applications).toBe(200);
    expect(outcomes[0]?.extraCalls).toBe(7);
  });
});

/** Whether the host meets the conditions on hosts in a query. */
function isIn(nrql: string, name: string): boolean {
  const conditions = [...nrql.matchAll(/host (NOT )?RLIKE r'(.*?)'/gu)];
  return conditions.every(
    ([, not, pattern]) =>
      new RegExp(`^(?:${pattern ?? ''})$`, 'u').test(name) === (not === undefined),
  );
}
