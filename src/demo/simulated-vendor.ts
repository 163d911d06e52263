import { didYouMean } from '../config/suggestion.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import type { AccountSource } from '../model/config.ts';
import { createFaults } from '../simulator/faults.ts';
import {
  FaultError,
  type FaultScript,
  faultScript,
  type NamedFault,
} from '../simulator/named-fault.ts';
import { createSimulator, type Simulator } from '../simulator/simulator.ts';
import type { Intercept, SimulatorOptions } from '../simulator/simulator-options.ts';

export const simulatedAccountId = 1_234_567;

export interface SimulatedVendorOptions {
  readonly applications: number;
  readonly hosts: number;
  readonly churnPerHour: number;
  readonly quotaPerMinute?: number | undefined;
  /** Of each answer, unless a fault says otherwise. */
  readonly latencyMs: SimulatorOptions['latencyMs'];
  readonly port: number;
  readonly portFlag: string;
  readonly faults: readonly NamedFault[];
}

/** The simulated New Relic, which does not listen yet. */
export interface SimulatedVendor {
  readonly simulator: Simulator;
  readonly apiKey: string;
  readonly script: FaultScript;
  /** Starts to listen; rejects with a `CommandError` if it cannot. */
  start(): Promise<{ readonly baseUrl: string }>;
}

/** Throws a `CommandError` if a fault does not fit to the account. */
export function createSimulatedVendor(
  options: SimulatedVendorOptions,
  { clock }: Platform,
): SimulatedVendor {
  const { applications, hosts, churnPerHour, quotaPerMinute, port } = options;
  // The faults name applications, which are known only when there is an account.
  const late: { intercept: Intercept } = { intercept: () => 'pass' };
  const slowest = options.faults.findLast((fault) => fault.name === 'slow');
  const simulator = createSimulator(
    {
      port,
      graphql: { accountId: simulatedAccountId },
      latencyMs: slowest?.latencyMs ?? options.latencyMs,
      quotaPerMinute,
      fleet: { applications, hosts, churnPerHour },
      intercept: (request, response) => late.intercept(request, response),
    },
    { clock },
  );
  const script = scriptFor(options.faults, simulator);
  late.intercept = createFaults(script.rules, { clock }).intercept;
  return {
    simulator,
    apiKey: simulator.apiKeys[0] ?? '',
    script,
    start: async () => started(simulator, options),
  };
}

function scriptFor(faults: readonly NamedFault[], { fleet }: Simulator): FaultScript {
  try {
    return faultScript(faults, fleet);
  } catch (error) {
    if (!(error instanceof FaultError)) throw error;
    const near = didYouMean(error.wanted, error.candidates);
    const hint = near === undefined ? namesOf(error.candidates) : `: ${near}`;
    throw new CommandError(2, `${error.message}${hint}`, { cause: error });
  }
}

const mostNames = 8;

function namesOf(candidates: readonly string[]): string {
  return candidates.length === 0 ? '' : `: there are ${candidates.slice(0, mostNames).join(', ')}`;
}

async function started(
  simulator: Simulator,
  { port, portFlag }: SimulatedVendorOptions,
): Promise<{ readonly baseUrl: string }> {
  try {
    return await simulator.start();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const problem =
      code === 'EADDRINUSE'
        ? `the port ${port} is in use by another process: stop that process, or choose another port`
        : `it cannot listen on the port ${port} (${code}): choose another port`;
    throw new CommandError(1, `The simulated New Relic: ${problem} with --${portFlag}.`, {
      cause: error,
    });
  }
}

export interface SimulatedConfig {
  readonly account: string;
  readonly baseUrl: string;
  readonly keyVariable: string;
  readonly source: AccountSource['kind'];
  /** Settings of all applications. */
  readonly poll: readonly string[];
  /** Names of applications that the account does not have. */
  readonly missingNames: readonly string[];
  /** The section `queries`, which only NerdGraph can have. Default: none. */
  readonly queries?: readonly string[] | undefined;
}

/** The text of the configuration file. */
export function simulatedConfigText(config: SimulatedConfig): string {
  const { account, baseUrl, keyVariable, source, poll, missingNames, queries = [] } = config;
  const isNerdgraph = source === 'nerdgraph';
  return [
    'accounts:',
    `  - name: ${account}`,
    `    base_url: ${baseUrl}`,
    `    api_key_env: ${keyVariable}`,
    ...(isNerdgraph ? ['    source: nerdgraph', `    account_id: ${simulatedAccountId}`] : []),
    ...(poll.length === 0 ? [] : ['poll:', ...poll.map((line) => `  ${line}`)]),
    'apps:',
    // Before the entry that chooses everything: behind it they would draw a warning.
    ...missingNames.map((name) => `  - name: ${JSON.stringify(name)}`),
    '  - match: "."',
    ...(isNerdgraph ? queries : []),
    '',
  ].join('\n');
}

/** The lines of a text, a little indented. */
export function indented(text: string): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`);
}
