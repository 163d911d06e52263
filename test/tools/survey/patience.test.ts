import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ThrottleHint } from '../../../src/simulator/fault.ts';
import type { FaultCondition, FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { slow } from '../../support/slow.ts';
import { temporaryDirectory } from '../backfill/backfill-bench.ts';
import { type Printed, printedOn, threeApplications } from './ask-bench.ts';

// Loaded before time passes: a fake clock does not wait for the disk.
await Promise.all([
  import('re2js'),
  import('../../../src/cli/one-shot.ts'),
  import('../../../src/tools/check-config/check-config.ts'),
  import('../../../src/tools/check-config/check-online.ts'),
  import('../../../src/tools/compare/compare.ts'),
  import('../../../src/tools/discover/discover.ts'),
  import('../../../src/tools/metrics/metrics.ts'),
  import('../../../src/tools/plan/plan.ts'),
  import('../../../src/tools/verify/verify.ts'),
]);

type Source = 'rest' | 'nerdgraph';

/** Only ends a command that does not end by itself. */
const mostMs = 24 * 3_600_000;
/** A command is as patient as this, and ends soon after. */
const patienceMs = { least: 119_000, most: 150_000 };
const why = /throttled|\b429\b/u;

const at = '2026-09-01T10:00:30Z';
const usualApps = 'apps: [{ name: shop }, { match: "^billing" }]';
const hour = ['--from=2026-09-01T09:00:00Z', '--to=2026-09-01T10:00:00Z'];

const commands = {
  once: ['once', '--config.file=c.yaml'],
  check: ['check-config', '--online', 'c.yaml'],
  compare: ['compare', 'c.yaml'],
  verify: ['verify', 'c.yaml'],
  plan: ['plan', '--online', 'c.yaml'],
  discover: ['discover', 'c.yaml'],
  metrics: ['metrics', 'shop', '--config.file=c.yaml'],
  backfill: ['backfill', 'c.yaml', ...hour],
} as const;
type Command = keyof typeof commands;
const all = Object.keys(commands) as readonly Command[];

const accountOf = (source: Source, name = 'main', key = 'KEY', perMinute = 800): string =>
  `{ name: ${name}, base_url: "http://127.0.0.1", api_key_env: ${key}, account_id: 1234567, source: ${source}, requests_per_minute: ${perMinute} }`;

/** Runs a command against an account that refuses some calls. */
async function asked(
  command: Command,
  file: string,
  options: SimulatorOptions,
  rules: readonly FaultRule[],
): Promise<Printed> {
  const output = `--output=${join(await temporaryDirectory(), 'past.om')}`;
  const args = [...commands[command], ...(command === 'backfill' ? [output] : [])];
  const stopLate: Parameters<typeof printedOn>[6] = (call, platform) => {
    if (call === 1) platform.clock.after(mostMs, () => platform.stop());
  };
  const fleet = { fleet: threeApplications, ...options };
  return printedOn({}, fleet, args, { 'c.yaml': file }, at, rules, stopLate);
}

const refused = (when: FaultCondition, hints: readonly ThrottleHint[] = []): FaultRule => ({
  when,
  fault: { kind: 'throttled', hints },
});

/** A 429 that asks for so much patience. */
const waitFor = (inSeconds: number): ThrottleHint => ({
  header: 'Retry-After',
  form: 'seconds',
  inSeconds,
});

/**
 * Until it gave up. For `once` the last failure in the log tells: pages are packed in real time, in which the clock
 * of the test goes on.
 */
function tookMs(command: Command, { stderr, elapsedMs }: Printed): number {
  if (command !== 'once') return elapsedMs;
  const failures = stderr.split('\n').filter((line) => line.includes('"reason":"throttled"'));
  const times = failures.map((line) => Date.parse(/"time":"([^"]+)"/u.exec(line)?.[1] ?? ''));
  return Math.max(...times) - Date.parse(at);
}

/** Each text, and whether a line with it says that New Relic has refused calls. */
function explained(
  { stdout, stderr }: Printed,
  names: readonly string[],
): readonly (readonly [string, boolean])[] {
  // The reason of a finding is in the line below it.
  const text = `${stdout}\n${stderr}`.replaceAll('\n    = help:', ' = help:');
  const lines = text.split('\n').filter((line) => why.test(line));
  return names.map((name) => [name, lines.some((line) => line.includes(name))]);
}

/** What is refused for good; `answered`: calls that are answered before. */
interface Refusal {
  readonly command: Command;
  readonly answered: number;
  readonly hints?: readonly ThrottleHint[];
  readonly options?: SimulatorOptions;
  readonly body?: string;
  readonly sources?: readonly Source[];
  /** What is missing. */
  readonly names: readonly string[];
}

const twoPages: SimulatorOptions = { pageSize: 2, graphql: { entityPageSize: 2 } };
const queries = 'queries: [{ as: shop_calls, nrql: SELECT count(*) FROM Transaction }]';

const refusals: readonly Refusal[] = [
  ...all.flatMap((command) =>
    [[], [waitFor(600)], [waitFor(5)]].map((hints) => {
      return { command, answered: 0, hints, names: command === 'backfill' ? [] : ['main'] };
    }),
  ),
  { command: 'once', answered: 1, names: ['shop', 'billing: #1'] },
  { command: 'once', answered: 0, body: queries, sources: ['nerdgraph'], names: ['shop_calls'] },
  { command: 'check', answered: 2, names: ['main', 'application 1'] },
  { command: 'compare', answered: 1, names: ['main'] },
  { command: 'compare', answered: 2, names: ['shop', 'billing: #1'] },
  { command: 'compare', answered: 3, names: ['shop', 'billing: #1'] },
  { command: 'verify', answered: 5, names: ['cannot tell'] },
  { command: 'plan', answered: 1, options: twoPages, names: ['main'] },
  { command: 'discover', answered: 1, options: twoPages, names: ['main'] },
  { command: 'metrics', answered: 1, names: ['main'] },
  { command: 'metrics', answered: 2, names: ['not all values'] },
];

describe.each<{ source: Source }>([{ source: 'rest' }, { source: 'nerdgraph' }])(
  'with $source, a command whose key lets no call through',
  ({ source }) => {
    it.each(refusals.filter(({ sources }) => sources?.includes(source) ?? true))(
      'for two minutes ends, and says what is missing: $command after $answered answers, $hints',
      async ({ command, answered, hints, options = {}, body = usualApps, names }) => {
        const file = `accounts: [${accountOf(source)}]\n${body}`;
        const rules = [refused({ calls: { first: answered + 1 } }, hints)];

        const printed = await asked(command, file, options, rules);

        expect(printed.exitCode).toBe(1);
        expect(`${printed.stdout}${printed.stderr}`).toMatch(why);
        expect(explained(printed, names)).toEqual(names.map((name) => [name, true]));
        // Verify asks each thing once: what it is answered is what it wants to know.
        const leastMs = command === 'verify' ? 0 : patienceMs.least;
        expect(tookMs(command, printed)).toBeGreaterThanOrEqual(leastMs);
        expect(tookMs(command, printed)).toBeLessThanOrEqual(patienceMs.most);
        expect(printed.open).toBe(0);
      },
    );

    it.each([{ command: 'once' }, { command: 'discover' }, { command: 'check' }] as const)(
      'for two minutes shows what another account has: $command',
      async ({ command }) => {
        const accounts = [accountOf(source), accountOf(source, 'other', 'WRONG_KEY')];
        const apps = 'apps: [{ match: "^shop", account: main }, { match: ".", account: other }]';
        const file = `accounts: [${accounts.join(', ')}]\n${apps}`;
        const options = { apiKeys: ['NRAK-GOOD', 'NRAK-WRONG'] };

        const printed = await asked(command, file, options, [refused({ keyIndex: 1 })]);

        expect(printed.exitCode).toBe(1);
        expect(explained(printed, ['other', 'main'])).toEqual([
          ['other', true],
          ['main', false],
        ]);
        expect(printed.stdout).toMatch(/main\W.*(?:shop|3 applications found)/u);
        expect(tookMs(command, printed)).toBeLessThanOrEqual(patienceMs.most);
      },
    );

    it.each(all.filter((command) => command !== 'verify'))(
      'for one minute succeeds after it: %s',
      async (command) => {
        const file = `accounts: [${accountOf(source)}]\n${usualApps}`;

        const printed = await asked(command, file, {}, [refused({ untilMs: 60_000 })]);

        expect(printed.exitCode).toBe(0);
        expect(`${printed.stdout}${printed.stderr}`).not.toMatch(/status 429|"throttled"/u);
        expect(printed.elapsedMs).toBeGreaterThanOrEqual(60_000);
      },
    );
  },
);

/** Lists of a hundred pages. */
const longLists: SimulatorOptions = {
  fleet: {
    traffic: 'flat',
    applications: Array.from({ length: 100 }, (_, index) => {
      const name = index === 0 ? 'shop' : `application ${index}`;
      return { id: 1001 + index, name, kind: 'web' as const, hosts: 1 };
    }),
  },
  pageSize: 1,
  graphql: { entityPageSize: 1 },
};

describe.each<{ source: Source }>([{ source: 'rest' }, { source: 'nerdgraph' }])(
  'with $source, a command that takes more than two minutes',
  ({ source }) => {
    it.each<{ what: string; perMinute: number; rules: readonly FaultRule[] }>([
      { what: 'because its calls wait for their turn', perMinute: 20, rules: [] },
      {
        what: 'because every second call is refused for a few seconds',
        perMinute: 800,
        rules: [refused({ calls: { every: 2 } }, [waitFor(5)])],
      },
    ])('$what does not give up', slow, async ({ perMinute, rules }) => {
      const account = accountOf(source, 'main', 'KEY', perMinute);
      const file = `accounts: [${account}]\npoll: { interval: 30m, discovery_interval: 1h }\napps: [{ match: ".", hosts: false }]`;
      for (const command of ['once', 'check', 'compare', 'plan', 'discover'] as const) {
        const printed = await asked(command, file, longLists, rules);

        expect([command, printed.exitCode]).toEqual([command, 0]);
        expect(printed.calls).toBeGreaterThanOrEqual(100);
        expect(printed.elapsedMs).toBeGreaterThan(patienceMs.most);
        expect(`${printed.stdout}${printed.stderr}`).not.toMatch(/status 429|"throttled"/u);
      }
    });
  },
);
