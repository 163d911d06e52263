import { beforeAll, describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../src/model/time.ts';
import type { Intercept } from '../../../src/simulator/simulator-options.ts';
import { eachAfter, slow } from '../../support/slow.ts';
import {
  accountOf,
  type Backfilled,
  backfilled,
  stopAt,
  temporaryDirectory,
  undisturbed,
} from './backfill-bench.ts';

/** New Relic that has a value an hour of what is older than eight days: other windows have twelve times too much. */
const rollsUp: Intercept =
  ({ wallMs }) =>
  (answer) => ({
    ...answer,
    body: JSON.stringify(JSON.parse(answer.body), (_, value: unknown): unknown => {
      const row = { beginTimeSeconds: 0, endTimeSeconds: 0, ...Object(value) };
      const { beginTimeSeconds: begin, endTimeSeconds: end } = row;
      // Events are kept as they are.
      const isKept = 'backfill_records' in row;
      const isOld = begin > 0 && !isKept && begin * 1000 < wallMs - 8 * dayMs;
      if (!isOld || (begin % 3600 === 0 && end % 3600 === 0)) return value;
      return Object.fromEntries(
        Object.entries(Object(value)).map(([name, one]) => {
          return [name, typeof one === 'number' && !name.endsWith('TimeSeconds') ? 12 * one : one];
        }),
      );
    }),
  });

const begunAt = '2026-09-01T10:00:30Z';
const run = {
  file: `${accountOf('nerdgraph')}poll: { metrics: [throughput] }\napps: [{ match: "." }]\n`,
  options: { fleet: { applications: 1, hosts: 1 }, ingestDelayMs: 0, intercept: rollsUp },
  flags: ['--from=2026-08-22T00:00:00Z', '--to=2026-09-01T08:00:00Z', '--step=5m'],
  at: begunAt,
};
const laterBy = (ms: number): string => new Date(Date.parse(begunAt) + ms).toISOString();
const linesOf = (text: string | undefined): readonly string[] =>
  (text ?? '').split('\n').filter((line) => line.startsWith('newrelic_'));

/** What is asked by less than an hour, and had too little time left when it was. */
function tooFine({ targets }: Backfilled, at: string): readonly string[] {
  return targets.filter((text) => {
    const [, since, length] = /SINCE (\d+) UNTIL \d+ TIMESERIES (\d+)/u.exec(text) ?? [];
    const edgeMs = Date.parse(at) - 8 * dayMs + 2 * hourMs;
    return since !== undefined && Number(length) < hourMs && Number(since) < edgeMs;
  });
}

describe('backfill, gone on with later', () => {
  let whole: Backfilled;
  beforeAll(async () => {
    whole = await undisturbed(run);
  });

  eachAfter(1, [
    { hours: 0.5, isSame: true },
    { hours: 3, isSame: false },
    { hours: 24, isSame: false },
    { hours: 9 * 24, isSame: false },
  ])(
    'asks by the hour for what has become too old in $hours hours, and has no wrong sample',
    async ({ hours, isSame }) => {
      const at = laterBy(hours * hourMs);
      const directory = await temporaryDirectory();
      await backfilled({ ...run, directory, beforeCall: stopAt(3) });
      const next = await backfilled({ ...run, directory, at });
      const begunLater = await undisturbed({ ...run, at });
      const right = new Set([...linesOf(whole.output), ...linesOf(begunLater.output)]);
      const timesIn = (text: string | undefined): readonly number[] =>
        [...new Set(linesOf(text).map((line) => Number(line.split(' ').at(-1))))].toSorted(
          (one, other) => one - other,
        );
      const [found, gaps] = [timesIn(next.output), timesIn(next.output).slice(1)];

      expect(next.exitCode).toBe(0);
      expect(tooFine(next, at)).toEqual([]);
      expect(linesOf(next.output).filter((line) => !right.has(line))).toEqual([]);
      expect(next.output === whole.output).toBe(isSame);
      // Nothing is missing: no moment is further from the next one than an hour and a step.
      const widest = Math.max(...gaps.map((time, index) => time - (found[index] ?? 0)));
      expect(widest).toBeLessThanOrEqual(3900);
      expect(found.at(-1)).toBeGreaterThan(Date.parse('2026-09-01T07:00:00Z') / 1000);
    },
  );

  const events = `${accountOf('nerdgraph')}queries: [{ as: calls_by_host, nrql: "SELECT count(*) FROM Transaction FACET host LIMIT 50" }]\n`;
  eachAfter(1, [
    { what: 'of the last days', from: '2026-08-29', to: '2026-09-01', file: run.file, days: [1] },
    {
      what: 'old from the start',
      from: '2026-08-10',
      to: '2026-08-20',
      file: run.file,
      days: [1, 9],
    },
    { what: 'of events', from: '2026-08-29', to: '2026-09-01', file: events, days: [1, 9] },
  ])('has the bytes of an undisturbed run, if all is $what', async ({ from, to, file, days }) => {
    const flags = [`--from=${from}T00:00:00Z`, `--to=${to}T00:00:00Z`, '--step=5m'];
    const usual = await undisturbed({ ...run, file, flags });
    for (const day of days) {
      const directory = await temporaryDirectory();
      const own = { ...run, file, flags, directory };
      const stopped = await backfilled({ ...own, beforeCall: stopAt(usual.calls) });
      const next = await backfilled({ ...own, at: laterBy(day * dayMs) });

      expect(stopped).toMatchObject({ exitCode: 143, output: undefined });
      expect(next).toMatchObject({ exitCode: 0, output: usual.output });
      expect(usual.output?.split('\n').length).toBeGreaterThan(300);
    }
  });

  it('moves the edge while it goes on, however long a single run takes', slow, async () => {
    const { exitCode, output, targets } = await undisturbed({
      ...run,
      // Three are on their way together.
      beforeCall: (_, { clock }) => {
        clock.jumpWall(0.6 * hourMs);
      },
    });
    const byTheHour = await undisturbed({ ...run, at: laterBy(9 * dayMs) });
    const right = new Set([...linesOf(whole.output), ...linesOf(byTheHour.output)]);

    expect(exitCode).toBe(0);
    expect(targets.length).toBeGreaterThan(whole.targets.length);
    expect(linesOf(output).filter((line) => !right.has(line))).toEqual([]);
  });
});
