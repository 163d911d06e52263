import { minuteMs } from '../../src/model/time.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

export interface FailingHalf {
  readonly applications: number;
  readonly requestsPerMinute: number;
  readonly intervalMs: number;
  /** Whether this try fails of an application of the half that fails. */
  readonly fails: (tryNumber: number) => boolean;
  /** How long they fail. */
  readonly minutes: number;
}

export interface SeenOfHalf {
  readonly intervalSeconds: number;
  /** The longest time between two polls of an application that never fails, since the others fail. */
  readonly longestGapMs: number;
  /** Calls a minute for the half that fails. */
  readonly callsForFailing: number;
  readonly mostInAnyMinute: number;
  /** Applications of that half whose last poll succeeded. */
  readonly succeeded: number;
}

/** Each second application fails from the fourth minute on, or from its second interval. */
export async function failingHalf(scene: FailingHalf): Promise<SeenOfHalf> {
  const { requestsPerMinute, intervalMs, fails, minutes } = scene;
  const applications = Array.from({ length: scene.applications }, (_, index) => ({
    id: index + 1,
    name: `app-${index}`,
    kind: 'web' as const,
    webRpm: 60,
    hosts: 1,
  }));
  const tries = new Map<number, number>();
  const fromMs = Math.max(4 * minuteMs, 2 * intervalMs);
  const account = accountOne({ requestsPerMinute });
  const entry = anEntry({ account: 'one', hosts: false, poll: { intervalMs } });
  const { platform, daemon, simulator, page } = await aRunningDaemon(
    { accounts: [account], apps: [entry] },
    {
      fleet: { traffic: 'flat', applications },
      quotaPerMinute: 4000,
      intercept: ({ applicationId, monotonicMs }, response) => {
        const id = Number(applicationId);
        if (applicationId === undefined || id % 2 === 1 || monotonicMs < fromMs) return 'pass';
        const tryNumber = tries.get(id) ?? 0;
        tries.set(id, tryNumber + 1);
        if (!fails(tryNumber)) return 'pass';
        response.statusCode = 500;
        response.end('{}');
        return 'handled';
      },
    },
  );
  await platform.clock.advance(fromMs + minutes * minuteMs);

  const { journal } = simulator;
  const lastMs = new Map<string, number>();
  let longestGapMs = 0;
  for (const { applicationId, monotonicMs } of journal.entries()) {
    if (applicationId === undefined || Number(applicationId) % 2 === 0) continue;
    const gapMs =
      monotonicMs < fromMs ? 0 : monotonicMs - (lastMs.get(applicationId) ?? monotonicMs);
    longestGapMs = Math.max(longestGapMs, gapMs);
    lastMs.set(applicationId, monotonicMs);
  }
  const even = /_poll_success\{[^}]*app_id="\d*[02468]"[^}]*\} 1$/gmu;
  return {
    intervalSeconds: daemon.status()[0]?.pollIntervalSeconds ?? 0,
    longestGapMs,
    callsForFailing: [...tries.values()].reduce((sum, count) => sum + count, 0) / minutes,
    mostInAnyMinute: journal.maxInAnyWindow(minuteMs),
    succeeded: (await page()).match(even)?.length ?? 0,
  };
}
