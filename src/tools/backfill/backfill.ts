import type { Flags } from '../../cli/flag-table.ts';
import type { Outcome } from '../../cli/one-shot.ts';
import { effectiveConfigText } from '../../config/effective-config.ts';
import { digestOf } from '../../config/read-file.ts';
import { labelProblem, targetLabels } from '../../config/schema-fields.ts';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { accountsInUse } from '../../daemon/prepare-account.ts';
import { ApiError } from '../../model/api-error.ts';
import type { AccountConfig, AccountInUse, Config } from '../../model/config.ts';
import { everyOwnLabel } from '../../model/own-names.ts';
import { seriesLabels } from '../../model/polled-series.ts';
import { polledBy } from '../../model/selector.ts';
import { countText, cutText, printable } from '../../model/shown-text.ts';
import { dayMs, minuteMs } from '../../model/time.ts';
import { renderLabels } from '../../publish/render.ts';
import { loadForCommand, noAccountId, type OpenAccount, withAccounts } from '../survey/ask.ts';
import { vendorFacts } from '../survey/call-plan.ts';
import { filesOf, OutputFile, writeWhole } from '../write-whole.ts';
import type { Chain } from './chains.ts';
import { expectedOf, planText } from './estimate.ts';
import { Parts, type Plan, type Shown } from './parts.ts';
import { discovered, type Run, rowsIn, runOf, type Task, timeText } from './plan.ts';
import { inRounds, type Missing } from './rounds.ts';
import { rangeOf, type SampleRange, stepProblem } from './slices.ts';

/** New Relic keeps timeslices for 90 days, and what is rolled up for 13 months at most. */
const keptForMs = 395 * dayMs;
/** Of an account's budget, beside a daemon that uses all of its own. */
const usualShare = 0.25;
const { limitPerMinute } = vendorFacts.nerdgraph;
/** Calls of a key, of all its accounts: answers have some megabytes, and a daemon beside it needs its own. */
const mostTogether = 3;
const goOn = 'what was fetched is kept: start the same command again to go on';

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
  const names = flags.applications.filter((name) => name !== '');
  refuse(output === '' && 'backfill needs --output=FILE, the file to write');
  const config = await loadForCommand(flags.configFile, platform);
  const inUse = usedAccounts(config, names, flags, platform);
  const file = new OutputFile(output, { files: filesOf(config, flags.configFile), write });
  const parts = new Parts(file, platform, write);
  const wish = { names, flags, config, inUse, labels: addedLabels(flags.labels, inUse) };
  try {
    // What is wrong with it is said whoever has the directory.
    await begunBy(wish, file, parts, platform);
    if (!dryRun) await parts.take();
    return await result(file, parts, wish, platform);
  } catch (error) {
    throw explained(error, parts, platform);
  } finally {
    await parts.release();
  }
}

/** What is asked for. */
interface Wish {
  /** Of applications; none means all. */
  readonly names: readonly string[];
  readonly flags: Flags;
  readonly config: Config;
  readonly inUse: readonly AccountInUse[];
  readonly labels: Shown['labels'];
}

/** What to ask for, and the plan of the run that goes on, if there is one. Rejects if that cannot be, or is another. */
async function begunBy(wish: Wish, file: OutputFile, parts: Parts, { clock }: ToolPlatform) {
  const { flags, inUse } = wish;
  const known = flags.restart ? undefined : await parts.plan();
  const range = rangeFrom(flags, known, clock.wallMs());
  const asked = textOf(range, wish);
  const polls = inUse.flatMap(({ entries, queries = [] }) => [
    ...polledBy(entries).map(({ poll }) => ({ name: 'apps', poll })),
    ...queries,
  ]);
  const isOther = known !== undefined && known.asked !== asked;
  const help = 'ask for the same to go on, name another file, or begin anew with --restart';
  refuse(
    ...polls.map(({ poll, name }) => stepProblem(range.stepMs, poll, name)),
    isOther && `${parts.directory} is of another run (${known.asked}): ${help}`,
  );
  const isDone = known?.bytes !== undefined && known.bytes === (await file.size());
  if (!isDone) await file.check();
  return { known, range, asked, isDone };
}

/** Goes on with the plan that is there, or makes one, until the file is there. */
async function result(
  file: OutputFile,
  parts: Parts,
  wish: Wish,
  platform: ToolPlatform,
): Promise<Outcome> {
  const { dryRun } = wish.flags;
  const { known, range, asked, isDone } = await begunBy(wish, file, parts, platform);
  if (isDone) {
    if (!dryRun) await parts.clear();
    return { exitCode: 0, output: `${file.path} is done: there is nothing to ask\n` };
  }
  // What is shown of its progress is how far it is, not each call.
  const quiet = { ...platform, progress: { show: () => undefined } };
  const ask = async (accounts: readonly OpenAccount[]): Promise<Outcome> => {
    const { nowMs, toMs } = range;
    const { names } = wish;
    const found = known ?? {
      asked,
      nowMs,
      toMs,
      accounts: await discovered(names, accounts),
      rows: await Promise.all(accounts.map(async (one) => rowsIn(one, range))),
    };
    const run = runOf(found, range, accounts);
    const slices = run.tasks.map(({ name }) => name);
    await parts.look(known === undefined ? [] : run.tasks);
    if (known === undefined && !dryRun) await parts.begin(found);
    const kept = dryRun ? undefined : parts;
    const shown = { ...run, labels: wish.labels };
    const plan = { ...found, expected: found.expected ?? (await expectedOf(run, shown, kept)) };
    platform.stopSignal.throwIfAborted();
    const text = planText(range, run, parts, plan.expected);
    if (dryRun) return { exitCode: 0, output: text };
    platform.stderr.write(text);
    await parts.setPlan(plan);
    await askAll(run, parts, platform);
    const samples = await parts.join(slices, plan, shown);
    await parts.clear();
    return { exitCode: 0, output: `${file.path}: ${countText(samples)} samples\n` };
  };
  return withAccounts(wish.inUse, quiet, ask, { most: mostTogether });
}

/** Throws the first of what is wrong, if anything is. */
function refuse(...problems: readonly (string | false | undefined)[]): void {
  const problem = problems.find((one) => typeof one === 'string');
  if (problem !== undefined) throw new CommandError(2, problem);
}

/** A failure of New Relic or of the disk, and that nothing is lost; anything else as it is. */
function explained(error: unknown, { isBegun }: Parts, platform: ToolPlatform) {
  const { stopSignal, redactor, stderr } = platform;
  if (stopSignal.aborted) {
    if (isBegun) stderr.write(`${goOn}\n`);
    return stopSignal.reason as unknown;
  }
  const isOfSystem = error instanceof Error && 'code' in error;
  if (!(error instanceof ApiError || isOfSystem)) return error;
  const message = redactor.redact(error.message) + (isBegun ? `\n${goOn}` : '');
  return new CommandError(1, message, { cause: error });
}

const namesAsIds =
  'with source: rest hosts have ids, which NerdGraph does not know: here host_id is the name';

/** The accounts that NerdGraph can be asked about, with a budget of their own. */
function usedAccounts(
  config: Config,
  names: readonly string[],
  { only, budget }: Flags,
  { stderr }: ToolPlatform,
): readonly AccountInUse[] {
  // Whoever names applications, and not that queries are wanted, wants no others.
  const hasQueries = only === 'queries' || (only === 'all' && names.length === 0);
  const apps = only === 'queries' ? [] : config.apps;
  const all = accountsInUse({ ...config, apps, queries: hasQueries ? config.queries : [] });
  const able = all.flatMap(({ account, ...asked }): readonly AccountInUse[] => {
    const { kind, accountId } = account.source;
    const tell = (note: string): void => {
      stderr.write(`account ${printable(account.name)}: ${note}\n`);
    };
    if (accountId === undefined) {
      tell(noAccountId);
      return [];
    }
    if (kind === 'rest' && asked.entries.some(({ hosts }) => hosts !== false)) tell(namesAsIds);
    const paced = pacedAccount(account, accountId, budget);
    const together = account.requestsPerMinute + paced.requestsPerMinute;
    if (kind === 'nerdgraph' && together > limitPerMinute) {
      const most = `New Relic allows ${limitPerMinute}: choose a smaller --budget`;
      tell(`with a running exporter it may make ${together} calls a minute, and ${most}`);
    }
    return [{ ...asked, account: paced }];
  });
  refuse(able.length === 0 && 'there is no account with an account_id and something to ask for');
  return able;
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

function rangeFrom(flags: Flags, known: Plan | undefined, wallMs: number): SampleRange {
  const { fromMs, stepMs } = flags;
  const nowMs = known?.nowMs ?? Math.floor(wallMs / 1000) * 1000;
  const toMs = flags.toMs === 0 ? (known?.toMs ?? nowMs) : flags.toMs;
  const [from, to] = [`--from=${timeText(fromMs)}`, `--to=${timeText(toMs)}`];
  refuse(
    fromMs === 0 && 'backfill needs --from=TIME, such as --from=2026-11-01T00:00:00Z',
    toMs > nowMs && `${to} is in the future`,
    fromMs >= toMs && `${from} is not before ${to}`,
    fromMs < nowMs - keptForMs && `${from} is over 13 months ago: New Relic keeps nothing so old`,
  );
  return { fromMs, toMs, stepMs, nowMs };
}

/** All that the output depends on: of the machine it is what `self` stands for. */
function textOf(
  { fromMs, toMs, stepMs }: SampleRange,
  { names, flags: { only }, config, labels }: Wish,
): string {
  const digest = digestOf(Buffer.from(effectiveConfigText(config)));
  const apps = names.map((one) => ` --app=${printable(one)}`).join('');
  const range = `${timeText(fromMs)} to ${timeText(toMs)}, every ${stepMs / minuteMs}m`;
  const selves = config.apps.flatMap(({ hosts }) =>
    typeof hosts === 'object' && hosts.kind === 'self' ? hosts.names : [],
  );
  const own = [...new Set(selves)].map((one) => `, self ${printable(one)}`).join('');
  return `${range}, --only=${only}${apps}, configuration ${digest.slice(0, 16)}${own}${labels.replace(',', ', with ')}`;
}

const barLength = 20;

/**
 * Asks for every slice that is not there, and shows how far that is. Rejects with a `CommandError` that names what
 * cannot be had, with the reason of a stop, and if a file cannot be written: when nothing is written any more.
 */
async function askAll({ tasks }: Run, parts: Parts, platform: ToolPlatform): Promise<void> {
  const { clock, progress, redactor, stderr, stopSignal } = platform;
  const left = tasks.filter(({ name }) => !parts.has(name));
  const startMs = clock.monotonicMs();
  let asked = 0;
  progress.show(() => {
    const done = tasks.length - left.length + asked;
    const filled = Math.round((barLength * done) / tasks.length);
    const bar = stderr.isTTY === true ? `[${'#'.repeat(filled).padEnd(barLength, '-')}] ` : '';
    const leftMs = ((clock.monotonicMs() - startMs) / asked) * (left.length - asked);
    const time = asked === 0 ? '' : `, about ${Math.ceil(leftMs / minuteMs)} min left`;
    return `${bar}${countText(done)} of ${countText(tasks.length)} calls${time}`;
  });
  const lines = [...new Set(tasks.map(({ chain }) => chain.account))].map((one) => {
    const own = tasks.filter(({ chain }) => chain.account === one);
    return { workers: one.account.concurrency, left: async () => parts.look(own) };
  });
  const missing = await inRounds(lines, {
    kindOf: ({ chain }) => chain,
    ask: async ({ name, chain, slice }) => {
      await parts.save(name, await chain.ask(slice));
      asked += 1;
    },
    onFailure: ({ chain }, error) => {
      stderr.write(`${titleOf(chain)}: ${redactor.redact(error.message)}\n`);
    },
    clock,
    signal: stopSignal,
  });
  if (missing.length > 0) throw lacking(missing, platform);
}

/** Lines of what is missing, and of reasons. */
const mostNamed = 20;
const mostCharacters = 100;

function titleOf({ account: { account }, subject }: Chain): string {
  return printable(cutText(`account ${account.name}, ${subject}`, mostCharacters));
}

/** Names what is missing, what follows one another together, and why. */
function lacking(missing: readonly Missing<Task>[], { redactor }: ToolPlatform): CommandError {
  const spans: { readonly chain: Chain; readonly fromMs: number; toMs: number }[] = [];
  for (const { item } of missing) {
    const { fromMs, toMs } = rangeOf(item.slice);
    const last = spans.at(-1);
    if (last?.chain === item.chain && fromMs <= last.toMs) last.toMs = toMs;
    else spans.push({ chain: item.chain, fromMs, toMs });
  }
  const named = spans.slice(0, mostNamed).map(({ chain, fromMs, toMs }) => {
    return `missing: ${titleOf(chain)}, ${timeText(fromMs)} to ${timeText(toMs)}`;
  });
  if (spans.length > mostNamed) named.push(`and ${spans.length - mostNamed} more`);
  const why = new Set(missing.map(({ error }) => error?.message ?? 'files were taken away'));
  const text = [...named, ...[...why].slice(0, mostNamed), goOn].join('\n');
  return new CommandError(1, redactor.redact(text));
}

const chooseAnother = 'choose another name, or leave it out';

/**
 * The labels that each series gets behind its own, as they are printed, with a comma before each. Throws a
 * `CommandError` if one cannot be.
 *
 * @param written each as NAME=VALUE; what is empty is none
 */
function addedLabels(written: readonly string[], inUse: readonly AccountInUse[]): string {
  const configured = new Set(inUse.flatMap(configuredLabels));
  const added = new Map<string, string>();
  for (const text of written.filter((one) => one !== '')) {
    const [name = '', ...values] = text.split('=');
    const value = values.join('=');
    const problem =
      nameProblem(name, configured) ??
      (added.has(name) ? 'is given twice: write it once' : undefined) ??
      (value === '' ? 'has no value: write --label=NAME=VALUE' : undefined);
    if (problem !== undefined)
      throw new CommandError(2, `--label: "${printable(name)}" ${problem}`);
    added.set(name, value);
  }
  return Array.from(added, (label) => `,${renderLabels([label])}`).join('');
}

function nameProblem(name: string, configured: ReadonlySet<string>): string | undefined {
  if (configured.has(name))
    return `is a label that the configuration gives to series: ${chooseAnother}`;
  if (everyOwnLabel.includes(name)) return `is a label of the exporter itself: ${chooseAnother}`;
  // Those of targets are what most will want.
  return targetLabels.includes(name) ? undefined : labelProblem(name, []);
}

function configuredLabels({ account, entries, queries = [] }: AccountInUse): readonly string[] {
  return [
    ...Object.keys(account.labels ?? {}),
    ...entries.flatMap(({ labels, poll: { tags = {} }, series }) => [
      ...[labels, ...series.map(seriesLabels)].flatMap((one) => Object.keys(one)),
      ...Object.values(tags),
    ]),
    ...queries.flatMap(({ labels, facets }) => [
      ...Object.keys(labels),
      ...facets.map(({ label }) => label),
    ]),
  ];
}
