import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/model/problem.ts';
import { type ProblemKind, problemKinds } from '../../src/model/problem-kinds.ts';
import { minuteMs } from '../../src/model/time.ts';
import { ProblemLog } from '../../src/poll/problem-log.ts';
import { createBoundedLogger } from '../../src/publish/bounded-logger.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { configOf, surfaces, told } from '../support/problem-bench.ts';
import { answered, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

const rest = 'accounts: [{ name: one, api_key_env: KEY_A }]\n';

function aProblem(kind: ProblemKind, parts: Partial<Problem> = {}): Problem {
  const { tone, remedy, log } = problemKinds[kind];
  return { kind, tone, remedy, log, sinceMs: undefined, text: 'what is wrong', ...parts };
}

describe('a line for many', () => {
  it.each<[ProblemKind, string]>([
    ['tag_without_value', 'tag'],
    ['key_shared', 'accounts'],
  ])('names some of them: %s', (kind, field) => {
    const logger = createFakeLogger();
    const log = new ProblemLog({}, { clock: createFakeClock(), logger });
    log.tell([1, 2, 3, 4].map((id) => aProblem(kind, { subject: { [field]: `name ${id}` } })));

    expect(logger.lines[0]?.fields['examples']).toEqual(['name 1', 'name 2', 'name 3', 'name 4']);
  });

  it('is counted with those that the bound of the log holds back', async () => {
    const clock = createFakeClock();
    const logger = createFakeLogger();
    const log = new ProblemLog({}, { clock, logger: createBoundedLogger(logger, clock) });
    const failing = (count: number): readonly Problem[] =>
      Array.from({ length: count }, (_, id) =>
        aProblem('application_failing', {
          subject: { app_id: `${id}`, app_name: `shop ${id}` },
          reason: 'timeout',
        }),
      );
    // An outage as it begins: some more are found every ten seconds.
    for (const count of [30, 60, 90, 120, 150, 180]) {
      log.tell(failing(count));
      await clock.advance(9000);
    }
    await clock.advance(3 * minuteMs);
    const all = logger.lines.reduce(
      (sum, { fields }) => sum + Number(fields['count'] ?? 1) + Number(fields['suppressed'] ?? 0),
      0,
    );

    expect(all).toBe(180);
  });
});

describe('values that are dropped', () => {
  it.each<[string, ReturnType<typeof answered>]>([
    ['the key is refused', answered('{}', 401)],
    ['New Relic answers 429', answered('{}', 429, { 'retry-after': '30' })],
  ])('do not point to a line that was never written: %s', async (_, answer) => {
    const bench = await aRunningDaemon(
      await configOf(`${rest}apps: [{ match: ., discovery_interval: 60s }]`),
      faulty({
        answer: () => (bench.platform.clock.monotonicMs() < 3 * minuteMs ? undefined : answer),
      }),
    );
    await bench.platform.clock.advance(40 * minuteMs);
    const dropped = bench.logger.lines.find(({ message }) => message === 'values dropped');

    expect(dropped).toBeDefined();
    expect(told(bench.logger)).not.toContain('poll failed');
    expect(dropped?.fields['remedy']).not.toContain('"poll failed" in the log');
  });
});

describe('429s because New Relic has too much to do', () => {
  it('have the same remedy when the list becomes late for them', async () => {
    const bench = await aRunningDaemon(
      await configOf(`${rest}apps: [{ match: ., discovery_interval: 60s }]`),
      faulty({
        answer: () =>
          bench.platform.clock.monotonicMs() < 3 * minuteMs
            ? undefined
            : answered('{}', 429, { 'retry-after': '30' }),
      }),
    );
    const remedies = new Set<unknown>();
    await bench.platform.clock.advance(4 * minuteMs);
    const now = () =>
      surfaces(bench).accounts[0]?.problems.find(({ kind }) => kind === 'throttled')?.remedy;
    remedies.add(now());
    await bench.platform.clock.advance(6 * minuteMs);
    remedies.add(now());

    expect([...remedies]).toHaveLength(1);
  });
});

describe('the wall clock that is set back while an application is forbidden (403)', () => {
  it('does not keep that out of the log', async () => {
    const bench = await aRunningDaemon(
      await configOf(`${rest}apps: [{ match: ., discovery_interval: 60s }]`),
      faulty({
        answer: ({ operation, target }) =>
          bench.platform.clock.monotonicMs() >= 3 * minuteMs &&
          operation.endsWith('_metrics') &&
          target.includes('102')
            ? answered('{}', 403)
            : undefined,
      }),
    );
    await bench.platform.clock.advance(3.3 * minuteMs);
    bench.platform.clock.jumpWall(-60 * minuteMs);
    await bench.platform.clock.advance(20 * minuteMs);

    expect(bench.daemon.status()[0]?.state).toBe('degraded');
    expect(told(bench.logger)).toContain('poll failed');
  });
});

describe('ten thousand that fail', () => {
  it('are judged and told in less than a tenth of a second of CPU time', () => {
    const logger = createFakeLogger();
    const log = new ProblemLog({}, { clock: createFakeClock(), logger });
    const many = Array.from({ length: 10_000 }, (_, id) =>
      aProblem('application_failing', {
        subject: { app_id: `${id}`, app_name: `shop ${id}` },
        reason: 'timeout',
      }),
    );
    log.tell(many);
    const rounds = 5;
    const cpuMs = cpuMsOf(() => {
      for (let round = 0; round < rounds; round += 1) log.tell(many);
    });

    expect(cpuMs / rounds).toBeLessThan(100);
  });
});
