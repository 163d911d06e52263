import { flagTable } from './flag-table.ts';
import { type Command, environmentVariableOf, type Flag, isFor } from './flags.ts';

interface CommandHelp {
  /** The command with its operands. */
  readonly usage: string;
  readonly summary: string;
}

const commandHelp: Readonly<Record<Command, CommandHelp>> = {
  serve: {
    usage: 'serve',
    summary: 'Poll New Relic and serve the metrics. The default.',
  },
  'check-config': {
    usage: 'check-config [FILE]',
    summary: 'Check the configuration and report all errors at once.',
  },
  plan: {
    usage: 'plan [FILE]',
    summary:
      'Show what polling will cost and whether it fits the budget; exit with 1 if it does not.',
  },
  discover: {
    usage: 'discover [FILE]',
    summary: 'List the applications of the accounts; with -o yaml, ready to paste as apps.',
  },
  metrics: {
    usage: 'metrics APP',
    summary:
      'List the metrics of an application and their values; with -o yaml, ready to paste as metrics.',
  },
  compare: {
    usage: 'compare [FILE]',
    summary:
      'Poll everything once with REST and once with NerdGraph, and say whether switching is safe; exit with 1 if it is not.',
  },
  once: {
    usage: 'once',
    summary: 'Poll everything once and print the metrics; exit with 1 if anything failed.',
  },
  demo: {
    usage: 'demo',
    summary: 'Serve the metrics of a simulated account; needs neither a key nor a file.',
  },
  simulate: {
    usage: 'simulate',
    summary:
      'Simulate New Relic, with any number of applications and faults, for an exporter to poll.',
  },
  healthcheck: {
    usage: 'healthcheck',
    summary: 'Ask a running exporter whether it works; for container probes.',
  },
  'print-config': {
    usage: 'print-config [FILE]',
    summary:
      'Print the configuration with all defaults and the flags of serve, and where each value comes from; no secrets.',
  },
  'config-schema': {
    usage: 'config-schema',
    summary: 'Print the JSON schema of the configuration file, for editors.',
  },
};

const lineWidth = 80;
const switches: readonly string[] = [
  ...item('-h, --help', 'Show this help, or that of a command.'),
  ...item('-v, --version', 'Show the version.'),
];
const footer: readonly string[] = [
  'Exit codes: 0 success, 1 failure, 2 wrong usage or configuration,',
  '130 and 143 interrupted by SIGINT and SIGTERM.',
  'API keys come from the files or environment variables that the configuration',
  'names, by default NEW_RELIC_API_KEY; never from a flag.',
];

/** The answer to `--help`: of the whole program, or of one command with the flags it knows. */
export function helpText(command?: Command): string {
  const flags: readonly Flag<unknown>[] = Object.values(flagTable);
  const body = command === undefined ? overview(flags) : details(command, flags);
  return `${[...body, ...switches, '', ...footer].join('\n')}\n`;
}

function overview(flags: readonly Flag<unknown>[]): readonly string[] {
  return [
    'Publishes throughput, response times, errors and any other metric of New Relic',
    'APM applications and of their hosts as Prometheus metrics.',
    '',
    'Usage: newrelic-exporter [COMMAND] [FLAGS]',
    '',
    'Commands:',
    ...Object.values(commandHelp).flatMap(({ usage, summary }) => item(usage, summary)),
    '',
    'Flags (newrelic-exporter COMMAND --help shows those of one command):',
    ...flags.flatMap(flagItem),
  ];
}

function details(command: Command, flags: readonly Flag<unknown>[]): readonly string[] {
  const { usage, summary } = commandHelp[command];
  return [
    ...wrap(summary, ''),
    '',
    `Usage: newrelic-exporter ${usage} [FLAGS]`,
    '',
    'Flags:',
    ...flags.filter((flag) => isFor(flag, command)).flatMap(flagItem),
  ];
}

function flagItem(flag: Flag<unknown>): readonly string[] {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  return item(
    `${short}--${flag.name}=${flag.defaultText}`,
    `${flag.help} ($${environmentVariableOf(flag)})`,
  );
}

function item(term: string, description: string): readonly string[] {
  return [`  ${term}`, ...wrap(description, ' '.repeat(6))];
}

function wrap(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? indent + word : `${line} ${word}`;
    if (line !== '' && longer.length > lineWidth) {
      lines.push(line);
      line = indent + word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}
