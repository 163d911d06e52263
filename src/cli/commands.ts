/** What may follow a command, once. */
export interface Operand {
  readonly name: 'FILE' | 'APP';
  readonly isRequired: boolean;
  readonly help: string;
}

export const outputFormats = ['text', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

interface CommandFacts {
  readonly operand?: Operand;
  /** What it prints, if there is a choice. */
  readonly formats?: readonly OutputFormat[];
  /** For the help. */
  readonly summary: string;
}

const file: Operand = {
  name: 'FILE',
  isRequired: false,
  help: 'Configuration file; the same as --config.file.',
};
const application: Operand = {
  name: 'APP',
  isRequired: true,
  help: 'Id of an application, or its name exactly as New Relic shows it.',
};

export const commands = [
  'serve',
  'check-config',
  'plan',
  'discover',
  'metrics',
  'compare',
  'backfill',
  'verify',
  'once',
  'demo',
  'simulate',
  'healthcheck',
  'print-config',
  'config-schema',
] as const;
export type Command = (typeof commands)[number];

const commandTable: Readonly<Record<Command, CommandFacts>> = {
  serve: { summary: 'Poll New Relic and serve the metrics. The default.' },
  'check-config': {
    operand: file,
    summary: 'Check the configuration and report all errors at once.',
  },
  plan: {
    operand: file,
    formats: ['text', 'json'],
    summary: 'Show what polling will cost; exit with 1 if it does not fit.',
  },
  discover: {
    operand: file,
    formats: outputFormats,
    summary: 'List the applications of the accounts; -o yaml to paste as apps.',
  },
  metrics: {
    operand: application,
    formats: ['text', 'yaml'],
    summary: 'List the metrics of an application, and their values now.',
  },
  compare: {
    operand: file,
    summary: 'Poll with REST and NerdGraph; exit with 1 if switching is not safe.',
  },
  backfill: {
    operand: file,
    summary: 'Write the past as OpenMetrics text, for Prometheus to import; over NerdGraph.',
  },
  verify: {
    operand: file,
    summary:
      'Ask New Relic what is only believed of it, for a report; exit with 1 if anything differs.',
  },
  once: { summary: 'Poll once and print the values; exit with 1 if anything failed.' },
  demo: { summary: 'Serve the metrics of a simulated account; needs no key and no file.' },
  simulate: { summary: 'Simulate New Relic, with faults, for an exporter to poll.' },
  healthcheck: { summary: 'Ask a running exporter whether it works; for container probes.' },
  'print-config': {
    operand: file,
    summary: 'Print the configuration and the flags of serve with all defaults.',
  },
  'config-schema': { summary: 'Print the JSON schema of the configuration file, for editors.' },
};

/** The command of that name; `undefined` if there is none. */
export function commandNamed(word: string): Command | undefined {
  return commands.find((command) => command === word);
}

export function factsOf(command: Command): CommandFacts {
  return commandTable[command];
}
