import { parseDuration } from '../config/duration.ts';
import type { AccountSource } from '../model/config.ts';
import { type Command, type Flag, oneOf, wholeNumber } from './flags.ts';

/** What `--faults` shows: each of the things that an operator has to know from the page. */
const someFaults = 'fail-app=Checkout,missing-app=Checkout (staging),429-every=3m';

/** The forms of all faults; `src/demo/fault-list.ts` says what they mean. */
export const faultUsages: string =
  'fail-app=APP, hang-app=APP, missing-app=APP, missing-host[=APP], first-metric[=APP], ' +
  'lost-metrics[=APP], 429-every=5m, slow=5s, html-502[=20%], reset[=20%], wrong-key[=2m]';

type SimulatorCommand = Extract<Command, 'demo' | 'simulate'>;

function applications(command: SimulatorCommand): Flag<number> {
  return {
    name: `${command}.applications`,
    defaultText: '12',
    help: 'Applications of the simulated account.',
    ...wholeNumber(1, 10_000),
    commands: [command],
  };
}

function hosts(command: SimulatorCommand): Flag<number> {
  return {
    name: `${command}.hosts`,
    defaultText: '48',
    help: 'Hosts of the simulated account, all applications together.',
    ...wholeNumber(0, 100_000),
    commands: [command],
  };
}

function faults(command: SimulatorCommand): Flag<string> {
  return {
    name: `${command}.faults`,
    alias: 'faults',
    defaultText: '',
    bareText: someFaults,
    help: `What goes wrong at the simulated New Relic; also --faults. A list, separated by commas: ${faultUsages}. Without a value: ${someFaults}.`,
    expected: 'a list of faults',
    // Read by the command: the daemon knows nothing of the simulator.
    parse: (text) => text,
    commands: [command],
  };
}

/** The flags of what needs no account: `demo` and `simulate`. */
export class SimulatorFlags {
  readonly demoApplications: Flag<number> = applications('demo');
  readonly demoHosts: Flag<number> = hosts('demo');
  readonly demoSource: Flag<AccountSource['kind']> = {
    name: 'demo.source',
    defaultText: 'rest',
    help: 'API that the simulated account is polled with: rest or nerdgraph.',
    ...oneOf(['rest', 'nerdgraph']),
    commands: ['demo'],
  };
  readonly demoPort: Flag<number> = {
    name: 'demo.port',
    defaultText: '0',
    help: 'Port of the simulated New Relic API on the loopback address; 0 means any free port.',
    ...wholeNumber(0, 65_535),
    commands: ['demo'],
  };
  readonly demoFaults: Flag<string> = faults('demo');
  readonly simulateApplications: Flag<number> = applications('simulate');
  readonly simulateHosts: Flag<number> = hosts('simulate');
  readonly simulateChurnPerHour: Flag<number> = {
    name: 'simulate.churn',
    defaultText: '0',
    help: 'Hosts that are replaced by new ones each hour.',
    ...wholeNumber(0, 100_000),
    commands: ['simulate'],
  };
  readonly simulateQuota: Flag<number> = {
    name: 'simulate.quota',
    defaultText: '1000',
    help: 'REST calls that the key may make in a minute; further ones get status 429.',
    ...wholeNumber(1, 1_000_000),
    commands: ['simulate'],
  };
  readonly simulateLatencyMs: Flag<number> = {
    name: 'simulate.latency',
    defaultText: '100ms',
    help: 'How long an answer takes.',
    expected: 'a duration up to 10m, such as 100ms',
    commands: ['simulate'],
    parse: (text) => {
      const parsed = parseDuration(text, { minMs: 0, maxMs: 600_000 });
      return parsed.problem === undefined ? parsed.ms : undefined;
    },
  };
  readonly simulatePort: Flag<number> = {
    name: 'simulate.port',
    defaultText: '19126',
    help: 'Port of the simulated New Relic API on the loopback address; 0 means any free port.',
    ...wholeNumber(0, 65_535),
    commands: ['simulate'],
  };
  readonly simulateFaults: Flag<string> = faults('simulate');
}
