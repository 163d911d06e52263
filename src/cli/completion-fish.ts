import type { Candidates, CompletedCommand, CompletedFlag } from './completion-model.ts';

/** For fish. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name);
  return [
    '# fish completion for newrelic-exporter, made by "newrelic-exporter completion fish".',
    '',
    'function __newrelic_exporter_command',
    '  for word in (commandline -opc)[2..-1]',
    `    if contains -- $word ${names.join(' ')}`,
    '      echo $word',
    '      return',
    '    end',
    '  end',
    '  return 1',
    'end',
    '',
    'function __newrelic_exporter_is',
    '  set -l command (__newrelic_exporter_command; or echo serve)',
    '  test "$command" = "$argv[1]"',
    'end',
    '',
    'complete -c newrelic-exporter -f',
    ...commands.map(
      ({ name, summary }) =>
        `complete -c newrelic-exporter -n 'not __newrelic_exporter_command >/dev/null' -a ${name} -d ${quoted(summary)}`,
    ),
    ...commands.flatMap(linesOf),
    '',
  ].join('\n');
}

function linesOf({ name, operand, flags }: CompletedCommand): readonly string[] {
  const when = `complete -c newrelic-exporter -n '__newrelic_exporter_is ${name}'`;
  const words = operand === 'files' ? ' -F' : ` -a ${quoted(operand.join(' '))}`;
  return [
    ...(operand.length === 0 ? [] : [`${when}${words}`]),
    ...flags.map((flag) => `${when} ${flagText(flag)}`),
  ];
}

function flagText({ names, summary, value, candidates }: CompletedFlag): string {
  const options = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  return [...options, ...valueText(value, candidates), `-d ${quoted(summary)}`].join(' ');
}

function valueText(value: CompletedFlag['value'], candidates: Candidates): readonly string[] {
  if (value === 'none') return [];
  const words =
    candidates === 'files'
      ? ['-F']
      : candidates.length === 0
        ? []
        : [`-a ${quoted(candidates.join(' '))}`];
  // A value that may be left out only comes after "=", which fish then completes as well.
  return value === 'required' ? ['-r', ...words] : words;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
