/** What may follow a command, once. */
export interface Operand {
  readonly name: 'FILE' | 'APP';
  readonly isRequired: boolean;
  readonly help: string;
}

export const outputFormats = ['text', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

interface CommandFacts {
  readonly operand: Operand | undefined;
  /** What it may print. */
  readonly formats: readonly OutputFormat[];
  readonly summary: string;
}

const fileOperand: Operand = {
  name: 'FILE',
  isRequired: false,
  help: 'Configuration file; the same as --config.file.',
};
const applicationOperand: Operand = {
  name: 'APP',
  isRequired: true,
  help: 'Id of an application, or its name exactly as New Relic shows it.',
};

/** All commands, with what the help says of them. */
const summaries = {
  serve: 'Poll New Relic and serve the metrics. The default.',
  'check-config': 'Check the configuration and report all errors at once.',
  plan: 'Show what polling will cost; exit with 1 if it does not fit.',
  discover: 'List the applications of the accounts; -o yaml to paste as apps.',
  metrics: 'List the metrics of an application, and their values now.',
  compare: 'Poll with REST and NerdGraph; exit with 1 if switching is not safe.',
  backfill: 'Write the past as OpenMetrics text, for Prometheus to import; over NerdGraph.',
  verify:
    'Ask New Relic what is only believed of it, for a report; exit with 1 if anything differs.',
  once: 'Poll once and print the values; exit with 1 if anything failed.',
  demo: 'Serve the metrics of a simulated account; needs no key and no file.',
  simulate: 'Simulate New Relic, with faults, for an exporter to poll.',
  healthcheck: 'Ask a running exporter whether it works; for container probes.',
  'print-config': 'Print the configuration and the flags of serve with all defaults.',
  'config-schema': 'Print the JSON schema of the configuration file, for editors.',
} as const;

export type Command = keyof typeof summaries;

export const commands: readonly Command[] = Object.keys(summaries).filter((name): name is Command =>
  Object.hasOwn(summaries, name),
);

const operands: Readonly<Partial<Record<Command, Operand>>> = {
  'check-config': fileOperand,
  plan: fileOperand,
  discover: fileOperand,
  metrics: applicationOperand,
  compare: fileOperand,
  backfill: fileOperand,
  verify: fileOperand,
  'print-config': fileOperand,
};

const formats: Readonly<Partial<Record<Command, readonly OutputFormat[]>>> = {
  plan: ['text', 'json'],
  discover: outputFormats,
  metrics: ['text', 'yaml'],
};

/** The command of that name; `undefined` if there is none. */
export function commandNamed(word: string): Command | undefined {
  return commands.find((command) => command === word);
}

export function factsOf(command: Command): CommandFacts {
  return {
    operand: operands[command],
    formats: formats[command] ?? ['text'],
    summary: summaries[command],
  };
}
