import { expect } from 'vitest';
import type { AccountConfig } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiRequest, ApiResponse } from '../../src/newrelic/calls/transport.ts';
import { anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

/** What becomes of an answer while something fails. */
type Spoil = (request: ApiRequest, answer: ApiResponse) => ApiResponse;

export function hostsFailWith(errorClass: string): Spoil {
  const error = { message: 'it failed', extensions: { errorClass } };
  const body = JSON.stringify({ data: { actor: { account: { nrql: null } } }, errors: [error] });
  return ({ operation }, answer) => (operation === 'host_metrics' ? { ...answer, body } : answer);
}

/** Every query about the hosts of this application fails, and so takes its companions with it. */
function isPoisoned(id: number): Spoil {
  const spoil = hostsFailWith('INTERNAL_SERVER_ERROR');
  return (request, answer) =>
    new RegExp(`\\b${id}\\b`, 'u').test(appIdsIn(request.body)) ? spoil(request, answer) : answer;
}

function appIdsIn(body: string | undefined): string {
  return /appId IN \([^)]*\)/u.exec(body ?? '')?.[0] ?? '';
}

export const nothingIsWhole: Spoil = (_, answer) => ({
  ...answer,
  body: answer.body.replaceAll('"totalResult"', '"goneResult"'),
});

export interface Story {
  readonly count: number;
  readonly hosts: number;
  readonly limits?: Partial<AccountConfig>;
  readonly intervalMs?: number;
  readonly spoil: Spoil;
  /** Default: 12 minutes. */
  readonly failingMinutes?: number;
}

/** The calls of each minute. */
export interface Told {
  readonly usual: number;
  readonly failing: readonly number[];
  /** From ten minutes after the end. */
  readonly after: readonly number[];
  /** Effective ones, in seconds, all that there were. */
  readonly intervals: ReadonlySet<number | undefined>;
}

/** Runs the daemon before, while and after something fails. */
export async function told(story: Story): Promise<Told> {
  const { count, hosts, limits, intervalMs = minuteMs, spoil, failingMinutes = 12 } = story;
  let isSpoilt = false;
  let sent = 0;
  const kind = 'web' as const;
  const applications = Array.from({ length: count }, (_, index) => {
    return { id: index + 1, name: `app-${index}`, kind, webRpm: 60, hosts };
  });
  const source = { kind: 'nerdgraph', accountId: 1_234_567 } as const;
  const entry = anEntry({ account: 'one' });
  const { daemon, platform } = await aRunningDaemon(
    {
      accounts: [accountOne({ source, ...limits })],
      apps: [{ ...entry, poll: { ...entry.poll, intervalMs } }],
    },
    {
      fleet: { traffic: 'flat', applications },
      wire: (wire) => ({
        ...wire,
        send: async (request, ...rest) => {
          sent += 1;
          const answer = await wire.send(request, ...rest);
          return isSpoilt ? spoil(request, answer) : answer;
        },
      }),
    },
  );
  const intervals = new Set<number | undefined>();
  const minutes = async (length: number): Promise<readonly number[]> => {
    const counts: number[] = [];
    for (let minute = 0; minute < length; minute += 1) {
      sent = 0;
      await platform.clock.advance(minuteMs);
      counts.push(sent);
      intervals.add(daemon.status()[0]?.pollIntervalSeconds);
    }
    return counts;
  };
  await minutes(5);
  const [usual = 0] = await minutes(1);
  isSpoilt = true;
  const failing = await minutes(failingMinutes);
  isSpoilt = false;
  await minutes(10);
  return { usual, failing, after: await minutes(2), intervals };
}

/** What fails in all queries about something does not fail because of one of them. */
export function expectUnimpressed(
  { usual, failing, after, intervals }: Told,
  { intervalMs = minuteMs }: Story,
): void {
  const ofTwoMinutes = failing.slice(1).map((calls, at) => calls + (failing[at] ?? 0));
  expect([...intervals]).toEqual([intervalMs / 1000]);
  expect(Math.max(...ofTwoMinutes)).toBeLessThanOrEqual(2 * 3 * usual);
  expect(after).toEqual([usual, usual]);
}

/**
 * One application of so many spoils the queries about hosts that name it, and no others for long.
 *
 * @param most calls more in a minute, until it is found
 */
export async function expectFoundAlone(count: number, most: number): Promise<void> {
  const spoil = isPoisoned(7);
  const { usual, failing, intervals } = await told({ count, hosts: 2, spoil, failingMinutes: 50 });

  expect([...intervals]).toEqual([60]);
  expect(Math.max(...failing)).toBe(usual + most);
  expect(failing.slice(-3)).toEqual([1, 1, 1].map((more) => usual + more));
}
