import { type Flags, flagTable } from '../cli/flag-table.ts';
import type { ExitCode, Platform } from '../daemon/platform.ts';
import { type Clock, sleep } from '../model/clock.ts';
import { countOf } from '../model/shown-text.ts';
import { minuteMs } from '../model/time.ts';
import type { Journal, JournalEntry } from '../simulator/journal.ts';
import { faultsFrom } from './fault-list.ts';
import {
  createSimulatedVendor,
  indented,
  type SimulatedVendor,
  simulatedAccountId,
  simulatedConfigText,
} from './simulated-vendor.ts';

const keyVariable = 'NEWRELIC_SIMULATED_KEY';
const configFile = 'simulated.yaml';

/** The simulated New Relic alone, for an exporter of which somebody wants to try the behaviour. */
export async function simulate(flags: Flags, platform: Platform): Promise<ExitCode> {
  const { clock, stdout, stopSignal } = platform;
  const vendor = createSimulatedVendor(
    {
      applications: flags.simulateApplications,
      hosts: flags.simulateHosts,
      churnPerHour: flags.simulateChurnPerHour,
      quotaPerMinute: flags.simulateQuota,
      latencyMs: flags.simulateLatencyMs,
      port: flags.simulatePort,
      portFlag: flagTable.simulatePort.name,
      faults: faultsFrom(flagTable.simulateFaults.name, flags.simulateFaults),
    },
    platform,
  );
  const { baseUrl } = await vendor.start();
  try {
    stdout.write(greeting(vendor, baseUrl, flags));
    for await (const line of minutesOf(vendor.simulator.journal, clock, stopSignal)) {
      stdout.write(`${line}\n`);
    }
    return 0;
  } finally {
    await vendor.simulator.stop();
  }
}

function greeting(
  { apiKey, script, simulator }: SimulatedVendor,
  url: string,
  flags: Flags,
): string {
  const config = simulatedConfigText({
    account: 'simulated',
    baseUrl: url,
    keyVariable,
    source: 'rest',
    poll: [],
    missingNames: script.missingNames,
  });
  const applications = countOf(simulator.fleet.applications().length, 'application');
  const churn = flags.simulateChurnPerHour;
  return [
    `A simulated New Relic listens on ${url}`,
    '',
    `  account   ${applications} with ${countOf(flags.simulateHosts, 'host')}${churn === 0 ? '' : `, ${churn} of them replaced each hour`}`,
    `  key       ${apiKey} (simulated, not a secret), ${countOf(flags.simulateQuota, 'call')} a minute`,
    ...script.sentences.map(
      (sentence, index) => `  ${index === 0 ? 'faults  ' : '        '}  ${sentence}`,
    ),
    '',
    `Write this to ${configFile}:`,
    '',
    ...indented(config),
    '',
    'Then, in another terminal:',
    '',
    `  export ${keyVariable}=${apiKey}`,
    `  newrelic-exporter check-config --online ${configFile}`,
    `  newrelic-exporter --config.file=${configFile}`,
    '',
    'For NerdGraph, add to the account:',
    '',
    '  source: nerdgraph',
    `  account_id: ${simulatedAccountId}`,
    '',
    'Each minute: what has arrived. Ctrl-C stops.',
    '',
    '',
  ].join('\n');
}

/** A line for each minute, until the signal is aborted. */
async function* minutesOf(
  journal: Journal,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  for (let fromMs = clock.monotonicMs(); ; fromMs += minuteMs) {
    const untilMs = fromMs + minuteMs;
    try {
      await sleep(clock, untilMs - clock.monotonicMs(), signal);
    } catch {
      return;
    }
    const arrived = journal.entries(
      ({ monotonicMs }) => monotonicMs >= fromMs && monotonicMs < untilMs,
    );
    yield `${new Date(clock.wallMs()).toISOString().slice(11, 19)} UTC  ${minuteText(arrived)}`;
  }
}

/** How many requests arrived in a minute, and what became of those that were not answered well. */
export function minuteText(entries: readonly Pick<JournalEntry, 'status'>[]): string {
  const counts = new Map<string, number>();
  for (const { status } of entries) {
    if (status === 200) continue;
    const what = status === undefined ? 'without an answer' : `status ${status}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const refused = [...counts].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const total = refused.reduce((sum, [, count]) => sum + count, 0);
  const requests = countOf(entries.length, 'request');
  if (total === 0) return `${requests}, none refused`;
  return `${requests}, ${total} refused: ${refused.map(([what, count]) => `${count} ${what}`).join(', ')}`;
}
