import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { effectiveConfigText } from '../../config/effective-config.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import { ApiError } from '../../model/api-error.ts';
import { sleep } from '../../model/clock.ts';
import type { AccountConfig, AccountInUse, Config } from '../../model/config.ts';
import { countText, printable } from '../../model/shown-text.ts';
import { dayMs, hourMs, minuteMs } from '../../model/time.ts';
import { eachOf, loadForCommand, withAccounts } from '../ask.ts';
import { Parts, type Plan, writeWhole } from './parts.ts';
import { discovered, planText, type Run, runOf, timeText, type Wanted } from './plan.ts';
import { stepProblem } from './slices.ts';

/** New Relic keeps timeslices for 90 days, and what is rolled up for 13 months at most. */
const keptForMs = 395 * dayMs;
/** Of an account's budget, beside a daemon that uses all of its own. */
const usualShare = 0.25;
/** Answers have some megabytes. */
const mostTogether = 3;

/**
 * Writes what a daemon would have shown in the past, as OpenMetrics text with timestamps. Whole slices are kept in
 * `FILE.parts/` until then, and the same command goes on with them. Rejects with a `CommandError` that says
 * what is wrong.
 */
export async function backfill(
  flags: Flags,
  platform: ToolPlatform,
  write: typeof writeWhole = writeWhole,
): Promise<Outcome> {
  const { backfillOutput: output, dryRun } = flags;
  if (output === '') throw new CommandError(2, 'backfill needs --output=FILE, the file to write');
  const config = await loadForCommand(flags.configFile, platform);
  const inUse = usedAccounts(config, flags, platform);
  const parts = new Parts(output, platform.stopSignal, write);
  try {
    const known = await parts.plan();
    const wanted = wantedFrom(flags, known, platform.clock.wallMs());
    checkSteps(inUse, wanted.stepMs);
    const asked = textOf(wanted, flags, config);
    const isThere = await access(output).then(
      () => true,
      () => false,
    );
    checkOutput(output, isThere && !dryRun, known?.asked, asked);
    if (known !== undefined && isThere) {
      await parts.clear();
      return { exitCode: 0, output: `${output} is done: there is nothing to ask\n` };
    }
    // What is shown of its progress is how far it is, not each call.
    const quiet = { ...platform, progress: { show: () => undefined } };
    return await withAccounts(inUse, quiet, async (accounts) => {
      const { nowMs, toMs } = wanted;
      const plan = known ?? { asked, nowMs, toMs, accounts: await discovered(wanted, accounts) };
      const run = runOf(plan, wanted, accounts);
      const text = planText(wanted, run, parts);
      if (dryRun) return { exitCode: 0, output: text };
      platform.stderr.write(text);
      if (known === undefined) await parts.setPlan(plan);
      await askAll(run, parts, platform);
      const samples = await parts.join(output, run.gauges);
      await parts.clear();
      return { exitCode: 0, output: `${output}: ${countText(samples)} samples\n` };
    });
  } catch (error) {
    throw explained(error, parts, platform);
  }
}

/** A failure of New Relic or of the disk, and that nothing is lost; anything else as it is. */
function explained(error: unknown, { isBegun }: Parts, { stopSignal, redactor }: ToolPlatform) {
  const isOfSystem = error instanceof Error && 'code' in error;
  if (stopSignal.aborted) return stopSignal.reason as unknown;
  if (!(error instanceof ApiError || isOfSystem)) return error;
  const kept = '\nwhat was fetched is kept: start the same command again to go on';
  const message = redactor.redact(error.message) + (isBegun ? kept : '');
  return new CommandError(1, message, { cause: error });
}

const needsId =
  'NerdGraph needs account_id: add it to the account; newrelic-exporter check-config --online proposes the line';
const namesAsIds =
  'with source: rest hosts have ids, which NerdGraph does not know: here host_id is the name';

/** The accounts that NerdGraph can be asked about, with a budget of their own. */
function usedAccounts(
  config: Config,
  { only, budget, applications }: Flags,
  { stderr }: ToolPlatform,
): readonly AccountInUse[] {
  // Whoever names applications, and not that queries are wanted, wants no others.
  const isOfSome = applications.some((name) => name !== '');
  const hasQueries = only === 'queries' || (only === 'all' && !isOfSome);
  const able = accountsInUse(config).flatMap(({ account, ...one }): readonly AccountInUse[] => {
    const { kind, accountId } = account.source;
    const entries = only === 'queries' ? [] : one.entries;
    const queries = hasQueries ? (one.queries ?? []) : [];
    if (entries.length + queries.length === 0) return [];
    const hasIds = kind === 'rest' && entries.some(({ hosts }) => hosts !== false);
    const note = accountId === undefined ? needsId : namesAsIds;
    if (accountId === undefined || hasIds) {
      stderr.write(`account ${printable(account.name)}: ${note}\n`);
    }
    return accountId === undefined
      ? []
      : [{ account: pacedAccount(account, accountId, budget), entries, queries }];
  });
  if (able.length > 0) return able;
  throw new CommandError(2, 'there is no account with an account_id and something to ask for');
}

function pacedAccount(account: AccountConfig, accountId: number, budget: number): AccountConfig {
  const usual = Math.max(1, Math.floor(usualShare * account.requestsPerMinute));
  return {
    ...account,
    source: { kind: 'nerdgraph', accountId },
    requestsPerMinute: budget === 0 ? usual : budget,
    concurrency: Math.min(account.concurrency, mostTogether),
  };
}

function wantedFrom(flags: Flags, known: Plan | undefined, wallMs: number): Wanted {
  const { fromMs, stepMs } = flags;
  const nowMs = known?.nowMs ?? Math.floor(wallMs / 1000) * 1000;
  const toMs = flags.toMs === 0 ? (known?.toMs ?? nowMs) : flags.toMs;
  const [from, to] = [`--from=${timeText(fromMs)}`, `--to=${timeText(toMs)}`];
  const problems: readonly (readonly [isWrong: boolean, problem: string])[] = [
    [fromMs === 0, 'backfill needs --from=TIME, such as --from=2026-11-01T00:00:00Z'],
    [toMs > nowMs, `${to} is in the future`],
    [fromMs >= toMs, `${from} is not before ${to}`],
    [fromMs < nowMs - keptForMs, `${from} is over 13 months ago: New Relic keeps nothing so old`],
  ];
  const problem = problems.find(([isWrong]) => isWrong);
  if (problem !== undefined) throw new CommandError(2, problem[1]);
  const applications = flags.applications.filter((one) => one !== '');
  return { fromMs, toMs, stepMs, nowMs, applications };
}

/** All that the output depends on. */
function textOf(
  { fromMs, toMs, stepMs, applications }: Wanted,
  { only }: Flags,
  config: Config,
): string {
  const digest = createHash('sha256').update(effectiveConfigText(config)).digest('hex');
  const names = applications.map((one) => ` --app=${printable(one)}`).join('');
  const range = `${timeText(fromMs)} to ${timeText(toMs)}, every ${stepMs / minuteMs}m`;
  return `${range}, --only=${only}${names}, configuration ${digest.slice(0, 16)}`;
}

function checkOutput(
  output: string,
  isThere: boolean,
  before: string | undefined,
  asked: string,
): void {
  if (before === undefined && isThere) {
    throw new CommandError(2, `${output} is there, and not of this run: name another file`);
  }
  if (before === undefined || before === asked) return;
  const help = `ask for the same to go on, name another file, or remove ${output}.parts`;
  throw new CommandError(2, `${output}.parts is of another run (${before}): ${help}`);
}

function checkSteps(inUse: readonly AccountInUse[], stepMs: number): void {
  for (const { entries, queries = [] } of inUse) {
    const polled = entries.filter(({ exclude }) => !exclude);
    for (const { name, poll } of [...polled.map((one) => ({ ...one, name: 'apps' })), ...queries]) {
      const problem = stepProblem(poll, stepMs);
      if (problem === undefined) continue;
      throw new CommandError(
        2,
        `--step=${stepMs / minuteMs}m ${problem} of ${name}: choose another`,
      );
    }
  }
}

/**
 * Asks for every slice that is not there. Rejects with an `ApiError` if one cannot be had, with the reason of a
 * stop, and if a file cannot be written: when nothing is written any more.
 */
async function askAll({ tasks }: Run, parts: Parts, platform: ToolPlatform): Promise<void> {
  const left = tasks.filter(({ name }) => !parts.has(name));
  const counts = createProgress(tasks.length, left.length, platform);
  const failures: unknown[] = [];
  const accounts = [...new Set(left.map(({ chain }) => chain.account))];
  await Promise.all(
    accounts.map(async (one) => {
      const own = left.filter(({ chain }) => chain.account === one);
      await eachOf(own.values(), one.account.concurrency, async ({ name, chain, slice }) => {
        if (failures.length > 0) return;
        try {
          const pages = await persistently(async () => chain.ask(slice), platform);
          await parts.save(name, pages);
          counts.asked += 1;
        } catch (error) {
          failures.push(error);
        }
      });
    }),
  );
  if (failures.length > 0) throw failures[0];
}

/** Without an answer for so long, a run ends. */
const longestOutageMs = hourMs;
const waits = { firstMs: 10_000, longestMs: 5 * minuteMs };
const passing = new Set<string>(['dns', 'connect', 'reset', 'timeout', 'throttled', 'server']);

/** Asks again while New Relic is out of reach, for up to an hour. */
async function persistently<Value>(
  ask: () => Promise<Value>,
  { clock, stopSignal }: ToolPlatform,
): Promise<Value> {
  const startMs = clock.monotonicMs();
  for (let waitMs = waits.firstMs; ; waitMs = Math.min(2 * waitMs, waits.longestMs)) {
    try {
      return await ask();
    } catch (error) {
      stopSignal.throwIfAborted();
      const mayPass = error instanceof ApiError && passing.has(error.reason);
      if (!mayPass || clock.monotonicMs() + waitMs - startMs > longestOutageMs) throw error;
      await sleep(clock, waitMs, stopSignal);
    }
  }
}

const barLength = 20;

/** Shows how far the calls are, and how long the others will take. */
function createProgress(
  all: number,
  left: number,
  { clock, progress, stderr }: ToolPlatform,
): { asked: number } {
  const startMs = clock.monotonicMs();
  const counts = { asked: 0 };
  progress.show(() => {
    const { asked } = counts;
    const done = all - left + asked;
    const leftMs = ((clock.monotonicMs() - startMs) / Math.max(1, asked)) * (left - asked);
    const filled = Math.round((barLength * done) / Math.max(1, all));
    const bar = stderr.isTTY === true ? `[${'#'.repeat(filled).padEnd(barLength, '-')}] ` : '';
    const time = asked === 0 ? '' : `, about ${Math.ceil(leftMs / minuteMs)} min left`;
    return `${bar}${countText(done)} of ${countText(all)} calls${time}`;
  });
  return counts;
}
