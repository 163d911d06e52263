import type { Flags } from '../cli/flag-table.ts';
import type { OutputFormat } from '../cli/flags.ts';
import { countOf, type Outcome } from '../cli/one-shot.ts';
import { AccountRuntime } from '../daemon/account-runtime.ts';
import type { Platform } from '../daemon/platform.ts';
import { prepareAccount } from '../daemon/prepare-account.ts';
import { printable } from '../model/line-text.ts';
import type { ListedMetric, ListMetrics, MetricListEnd, MetricPage } from '../model/metric-list.ts';
import type { Progress } from '../model/progress.ts';
import {
  createMetricNames as createRestMetricNames,
  defaultMaxMetricPages,
} from '../rest/metric-names.ts';
import { askingDependencies } from './account-discovery.ts';
import { configOrKey } from './config-or-key.ts';
import { createListedMetrics, type ListedMetrics } from './listed-metrics.ts';
import { budgetNote, endNotes, listNotes } from './metrics-notes.ts';
import { accountsNamed, type FoundHost, findApplication, findHost } from './metrics-target.ts';
import { type ListedTarget, metricsJson, metricsTable } from './metrics-text.ts';
import { metricsYaml } from './metrics-yaml.ts';
import { createMetricNames as createNrqlMetricNames } from './nrql-metric-names.ts';

export interface MetricsOptions {
  readonly flags: Flags;
  /** The id or the name of the application. */
  readonly operands: readonly string[];
}

/**
 * Prints which metrics an application has, or one of its hosts. Ends with 1 if the list could not be read
 * to its end; what was read until then is still printed, also when the process is asked to stop. Rejects
 * with a `CommandError` if there is no such application or host.
 */
export async function metrics(
  { flags, operands: [wanted = ''] }: MetricsOptions,
  platform: Platform,
): Promise<Outcome> {
  const config = await configOrKey(flags, platform);
  const progress = createStepProgress(platform.progress);
  const dependencies = await askingDependencies({ ...platform, progress: progress.ofCalls });
  const prepared = await Promise.all(
    accountsNamed(config, flags.account).map(async ({ account, entries }) =>
      prepareAccount(account, entries, dependencies),
    ),
  );
  const runtimes = await Promise.all(
    prepared.map(
      async (one) => new AccountRuntime(one, await platform.openTransport(one.wire), dependencies),
    ),
  );
  try {
    const found = await findApplication(wanted, runtimes, platform);
    const host = flags.host === '' ? undefined : await findHost(flags.host, found, platform);
    const { id, name } = found.application;
    const subject = { runtime: found.runtime, application: { id, name }, host };
    return await listed(subject, flags, { ...platform, progress: progress.ofStep() });
  } finally {
    await Promise.all(runtimes.map(async (runtime) => runtime.close()));
  }
}

/** What is listed, of whom. */
interface Subject extends Pick<ListedTarget, 'application'> {
  readonly runtime: AccountRuntime;
  readonly host: FoundHost | undefined;
}

async function listed(subject: Subject, flags: Flags, platform: Platform): Promise<Outcome> {
  const { runtime, application, host } = subject;
  const { account } = runtime.prepared;
  const found = createListedMetrics();
  const end = await readList(subject, flags.like, found, platform);
  const all = found.sorted();
  const isComplete = end !== undefined && end.error === undefined && end.cut === undefined;
  const target: ListedTarget = {
    account: account.name,
    source: account.source.kind,
    application,
    host,
    isComplete,
  };
  for (const note of [...endNotes(end, all, account.name), ...listNotes(all, target, flags.like)]) {
    platform.stderr.write(`${platform.redactor.redact(note)}\n`);
  }
  const isNothing = all.length === 0 && (!isComplete || flags.output !== 'json');
  return {
    exitCode: end?.error === undefined ? 0 : 1,
    output: isNothing ? '' : outputOf(all, target, flags.output),
  };
}

/** `undefined` if the process was asked to stop: then there is only what had arrived by then. */
async function readList(
  { runtime, application, host }: Subject,
  like: string,
  found: ListedMetrics,
  { stopSignal: signal, stderr, progress }: Platform,
): Promise<MetricListEnd | undefined> {
  const { account } = runtime.prepared;
  const what = `reading the metrics of application ${application.id} ${printable(application.name)}`;
  let place = '';
  progress.show(() => `${what}${place}`);
  const onPage = ({ metrics: some, page, pages, hasNext }: MetricPage): void => {
    found.add(some);
    if (!hasNext) return;
    if (page === 1) stderr.write(`${budgetNote(account, pages)}\n`);
    const ofPages = pages === undefined ? '' : ` of ${pages}`;
    place = `: page ${page + 1}${ofPages}, ${countOf(found.size(), 'name')} so far`;
  };
  const question = {
    applicationId: application.id,
    hostId: host?.id,
    like: like === '' ? undefined : like,
  };
  try {
    return await listerFor(runtime)(question, { signal, onPage });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function listerFor({ asking, prepared }: AccountRuntime): ListMetrics {
  const { source } = prepared.account;
  if (source.kind === 'rest') {
    return createRestMetricNames({ maxPages: defaultMaxMetricPages }, asking);
  }
  const timeoutMs = (): number => prepared.account.timeoutMs;
  return createNrqlMetricNames({ accountId: source.accountId, timeoutMs }, asking);
}

function outputOf(
  all: readonly ListedMetric[],
  target: ListedTarget,
  format: OutputFormat,
): string {
  switch (format) {
    case 'json':
      return metricsJson(all, target);
    case 'yaml':
      return metricsYaml(all, { isOfHost: target.host !== undefined });
    case 'text':
      return metricsTable(all);
  }
}

interface StepProgress {
  /** What single calls say of themselves; it no longer shows once a step has its own. */
  readonly ofCalls: Progress;
  ofStep(): Progress;
}

function createStepProgress(progress: Progress): StepProgress {
  let isOfStep = false;
  return {
    ofCalls: {
      show: (text) => {
        if (!isOfStep) progress.show(text);
      },
    },
    ofStep: () => {
      isOfStep = true;
      return progress;
    },
  };
}
