import { describe, expect, it } from 'vitest';
import { createStatusSource } from '../../src/daemon/serve.ts';
import { presetNames } from '../../src/model/presets.ts';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { manyApplications, type TimedBench, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { expectHeldAlone, moreMisleading } from './misleading-answers.ts';
import { byNerdGraph } from './sources.ts';

const production = { account: 'production' };
const app = 'newrelic_application_requests_per_minute';
const host = 'newrelic_application_host_requests_per_minute';
const success = 'newrelic_application_poll_success';
const failures = 'newrelic_exporter_api_request_failures_total';
const source = byNerdGraph.account;

/** All NRQL so far. */
function nrqlOf({ faulty }: TimedBench): readonly string[] {
  return faulty.simulator.journal
    .entries()
    .flatMap(({ graphql }) => graphql?.asks ?? [])
    .flatMap(({ operation, text }) => (operation === 'nrql' ? [text] : []));
}

/** What stands first in the list of applications on the status page. */
function firstOnPage({ daemon, platform }: TimedBench): string | undefined {
  const inForce = {
    configFile: '',
    includedFiles: [],
    brokenFiles: [],
    inForceSinceMs: 0,
    lastAttemptMs: 0,
    problem: undefined,
  };
  const status = createStatusSource(daemon, () => inForce, platform);
  const page = statusPage(status, new URLSearchParams(), {
    telemetryPath: '/metrics',
  });
  return /<a href="\.\/applications\?[^"]*"><bdi>([^<]*)</u.exec(page)?.[1];
}

/** Requests with NRQL in each minute, and the page at its end. */
async function minutesOf(bench: TimedBench, minutes: number) {
  const counts: number[] = [];
  let page = await bench.scrape();
  for (let minute = 0; minute < minutes; minute += 1) {
    const before = nrqlOf(bench).length;
    await bench.advance(minuteMs);
    counts.push(nrqlOf(bench).length - before);
    page = await bench.scrape();
  }
  const fresh = freshness(page, bench.clock).filter((one) => one.startsWith('production'));
  return { counts, most: Math.max(...counts), page, fresh };
}

describe('5.1 an application of ten that fails every query in which it is named', () => {
  it('stands alone within three intervals, and is asked with the others again when it is well', async () => {
    // So many calls that hardly two windows have the same number.
    const applications = manyApplications(10, 2).map((one) => ({ ...one, webRpm: 6_000_000 }));
    const poisoned = { ...production, app_id: '1003' };
    const rule = {
      when: {
        operation: 'nrql',
        applicationId: '1003',
        fromMs: 5 * minuteMs,
        untilMs: 30 * minuteMs + 1000,
      },
      fault: { kind: 'graphql_error', errorClass: 'INTERNAL_SERVER_ERROR', message: 'oh' },
    } as const;
    const options = { source, simulator: { fleet: { applications } }, script: [rule] };
    await withTimedFaults(options, async (bench) => {
      const before = await minutesOf(bench, 5);
      const divided = await minutesOf(bench, 3);
      const during = await minutesOf(bench, 22);
      const after = await minutesOf(bench, 2);
      const recovering = await minutesOf(bench, 45);
      const recovered = await minutesOf(bench, 5);

      expect(before.counts.slice(1)).toEqual([2, 2, 2, 2]);
      for (const { fresh } of [divided, during]) {
        expect(fresh).toHaveLength(9);
        expect(fresh).not.toContain('production 1003');
      }
      expect(divided.page.value(success, poisoned)).toBe(0);
      expect(divided.page.series(host, production)).toHaveLength(20);
      // The values of the tenth were too old after a while, and those of no other.
      expect(during.page.series(app, production)).toHaveLength(9);
      expect(during.page.series(host, production)).toHaveLength(18);
      expect(divided.most).toBeLessThanOrEqual(16);
      expect(during.most).toBeLessThanOrEqual(16);
      expect(after.fresh).toHaveLength(10);
      expect(recovering.most).toBeLessThanOrEqual(6);
      expect(recovered.counts).toEqual([2, 2, 2, 2, 2]);
      expect(recovered.fresh).toHaveLength(10);
      expect(bench.logs('values dropped').map(({ app_id: id }) => id)).toEqual(['1003']);
    });
  });
});

describe('an application that goes on failing every query in which it is named', () => {
  it.each([10, 200])(
    'is named among %i: by its metric, on the page, and in the log',
    async (count) => {
      const rule = {
        when: { operation: 'nrql', applicationId: '1003', fromMs: 5 * minuteMs },
        fault: { kind: 'graphql_error', errorClass: 'INTERNAL_SERVER_ERROR', message: 'oh' },
      } as const;
      const simulator = { fleet: { applications: manyApplications(count, 1) } };
      const options = { source, entries: [{ hosts: false }], simulator, script: [rule] };
      await withTimedFaults(options, async (bench) => {
        await bench.advance(70 * minuteMs);
        const page = await bench.scrape();

        const named = { app_id: '1003', app_name: 'application 3' };
        const failing = page
          .series(success, production)
          .filter((labels) => page.value(success, labels) === 0);
        const notUp = bench.daemon
          .applications()
          .filter(({ account, state }) => account === 'production' && state !== 'up');
        expect(failing).toEqual([{ ...production, ...named }]);
        expect(notUp).toMatchObject([
          { id: '1003', state: 'dropped', failure: { reason: 'server' } },
        ]);
        expect(firstOnPage(bench)).toBe('application 3');
        expect(notUp[0]?.failure?.message).toContain('of 1 application: status 500');
        expect(bench.logs('values dropped')).toMatchObject([{ ...named, reason: 'server' }]);
        // Every ten minutes.
        const reminders = bench.logs('still: poll failed');
        expect(reminders.length).toBeGreaterThan(5);
        expect(reminders.at(-1)).toMatchObject({
          count: 1,
          error: { reason: 'server' },
          examples: ['application 3'],
        });
        // All that failed at first are one line, or three and one for the others.
        expect(bench.logs('poll failed').length).toBeLessThanOrEqual(4);
        expect(page.total(failures, { ...production, reason: 'server' })).toBeGreaterThan(60);
      });
    },
  );
});

describe('200 applications with all presets and ids of ten digits', () => {
  const applications = manyApplications(200, 1).map((one, index) => ({
    ...one,
    id: 1_000_000_000 + index,
  }));
  const entries = [{ poll: { metrics: [...presetNames] } }];

  it.each([
    {
      what: 'a limit of 4,096 characters, from the first poll',
      limit: 4096,
      most: 4000,
      failed: 0,
    },
    { what: 'a smaller limit, when the queries are divided', limit: 3000, most: 3000, failed: 4 },
  ])('are asked for within $what', async ({ limit, most, failed }) => {
    const simulator = { fleet: { applications }, graphql: { maxNrqlCharacters: limit } };
    await withTimedFaults({ source, entries, simulator }, async (bench) => {
      await bench.advance(4 * minuteMs);
      const before = nrqlOf(bench).length;
      const { page, fresh } = await minutesOf(bench, 2);

      const lengths = nrqlOf(bench).map(({ length }) => length);
      const lately = lengths.slice(before);
      expect(fresh).toHaveLength(200);
      expect(page.series(app, production)).toHaveLength(200);
      expect(page.series(host, production)).toHaveLength(200);
      expect(lately.length).toBeGreaterThan(3);
      expect(Math.max(...lately)).toBeLessThanOrEqual(most);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(4000);
      expect(Math.max(...lengths)).toBeGreaterThan(3900);
      expect(page.total(failures, production)).toBeLessThanOrEqual(failed);
      expect(page.total(failures, { ...production, reason: 'too_large' })).toBe(
        page.total(failures, production),
      );
    });
  });
});

describe('a database that lets every query time out for minutes', () => {
  it.each([
    { what: 'an application with many hosts', applications: manyApplications(1, 600) },
    { what: '60 applications with twelve hosts each', applications: manyApplications(60, 12) },
  ])(
    'is asked four times as often at most, and as before twenty minutes later: $what',
    async ({ applications }) => {
      const when = {
        operation: 'nrql',
        fromMs: 5 * minuteMs,
        untilMs: 11 * minuteMs + 1000,
      } as const;
      const fault = { kind: 'graphql_error', errorClass: 'TIMEOUT', message: 'too slow' } as const;
      const options = { source, simulator: { fleet: { applications } }, script: [{ when, fault }] };
      await withTimedFaults(options, async (bench) => {
        const before = await minutesOf(bench, 5);
        const during = await minutesOf(bench, 6);
        const after = await minutesOf(bench, 10);
        const recovering = await minutesOf(bench, 10);
        const recovered = await minutesOf(bench, 3);

        const usual = before.counts.at(-1) ?? 0;
        const hosts = before.page.series(host, production).length;
        expect(usual).toBe(2);
        expect(hosts).toBeGreaterThan(500);
        expect(during.fresh).toEqual([]);
        expect(during.page.series(host, production)).toHaveLength(hosts);
        expect(during.most).toBeLessThanOrEqual(4 * usual);
        expect(Math.max(after.most, recovering.most)).toBeLessThanOrEqual(4 * usual);
        expect(after.fresh).toHaveLength(applications.length);
        expect(recovered.counts).toEqual([usual, usual, usual]);
      });
    },
  );
});

describe('an answer to a query for values that is not whole, or to another question', () => {
  it.each(moreMisleading)(
    'holds what it was to bring, and that alone: $part, $what',
    async (row) => {
      await expect(expectHeldAlone(row)).resolves.toBeUndefined();
    },
  );
});
