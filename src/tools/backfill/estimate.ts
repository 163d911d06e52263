import { budgetIdOf } from '../../model/config.ts';
import { own } from '../../model/own.ts';
import { countText } from '../../model/shown-text.ts';
import { minuteMs } from '../../model/time.ts';
import { sumOf } from '../survey/call-plan.ts';
import { type Expected, exposition, type Parts, type Shown, seriesIn } from './parts.ts';
import { type Run, type Task, timeText } from './plan.ts';
import { inGroups, plannedEdge, type SampleRange } from './slices.ts';

/** One slice stands for so many, or for a quarter of those of its chain. */
const fewTogether = 8;
const mostAsked = 4;

/**
 * What a run takes, and gives, by what New Relic has of some slices: they are saved.
 *
 * @param parts `undefined` to save nothing
 */
export async function expectedOf(
  run: Run,
  shown: Shown,
  parts: Parts | undefined,
): Promise<Expected> {
  const accounts = [...new Set(run.tasks.map(({ chain }) => chain.account))];
  const all = { calls: sumOf(accounts.map(({ calls }) => calls)), samples: 0, bytes: 0 };
  const asking = accounts.map(async (account) => {
    const { clock } = account.platform;
    const [startMs, before] = [clock.monotonicMs(), account.calls];
    for (const [group, { name, chain, slice }] of groupsIn(run)) {
      if (chain.account !== account) continue;
      const asked = account.calls;
      // One that is not answered now counts for nothing.
      const pages = await chain.ask(slice).catch(() => undefined);
      all.calls += group.length * Math.max(1, account.calls - asked);
      if (pages === undefined) continue;
      await parts?.save(name, pages);
      const weight = sumOf(group.map((one) => one.slice.windows)) / slice.windows;
      const counts = { samples: 0 };
      for await (const text of exposition(seriesIn(pages), shown, counts)) {
        if (!text.startsWith('#')) all.bytes += weight * Buffer.byteLength(text);
      }
      all.samples += weight * counts.samples;
    }
    const callMs = (clock.monotonicMs() - startMs) / Math.max(1, account.calls - before);
    return [account.account.name, callMs] as const;
  });
  const callMs = Object.fromEntries(await Promise.all(asking));
  return { ...all, callMs };
}

/** Slices of a chain, those by the hour apart, each with the one that stands for the others. */
function groupsIn({ chains, tasks }: Run): readonly (readonly [readonly Task[], Task])[] {
  return chains.flatMap((chain) => {
    const all = tasks.filter((one) => one.chain === chain);
    const size = Math.max(fewTogether, Math.ceil(all.length / mostAsked));
    const hourly = all.filter(({ slice }) => slice.hourly === undefined);
    return [hourly, all.slice(hourly.length)]
      .flatMap((some) => inGroups(some, size))
      .flatMap((group) => group.slice(-1).map((last) => [group, last] as const));
  });
}

/** What is asked for, and what it takes. Accounts are asked side by side, unless they have the same key. */
export function planText(
  { fromMs, toMs, stepMs, nowMs }: SampleRange,
  { tasks }: Run,
  parts: Parts,
  expected: Expected,
): string {
  const left = tasks.filter(({ name }) => !parts.has(name));
  const minutes = new Map<string, number>();
  for (const { chain } of left) {
    const { account } = chain.account;
    const answerMs = (own(expected.callMs, account.name) ?? 0) / account.concurrency;
    const eachMs = Math.max(minuteMs / account.requestsPerMinute, answerMs);
    const before = minutes.get(budgetIdOf(account)) ?? 0;
    const calls = expected.calls / tasks.length;
    minutes.set(budgetIdOf(account), before + (calls * eachMs) / minuteMs);
  }
  const coarseMs = plannedEdge(nowMs);
  const done = tasks.length - left.length;
  return [
    `samples from ${timeText(fromMs)} to ${timeText(toMs)}, every ${stepMs / minuteMs}m`,
    ...(fromMs < coarseMs
      ? [`until ${timeText(coarseMs)} one an hour of applications: New Relic has no more`]
      : []),
    `calls: ${countText(expected.calls)}${done > 0 ? `, ${countText(done)} of them done` : ''}`,
    `minutes: ${countText(Math.ceil(Math.max(0, ...minutes.values())))}`,
    `about ${countText(Math.round(expected.samples))} samples, ${Number((expected.bytes / 1e6).toPrecision(2))} MB`,
    '',
  ].join('\n');
}
