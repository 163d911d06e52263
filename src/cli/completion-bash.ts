import type { Candidates, CompletedCommand, CompletedFlag } from './completion-model.ts';

/** For bash, also for the old one of macOS. It looks at the line itself, since bash splits words at `=`. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return [
    '# bash completion for newrelic-exporter, made by "newrelic-exporter completion bash".',
    '',
    ...tableOf('command_flags', 'serve', commands.map(flagsOf)),
    ...tableOf('command_words', '', commands.map(operandOf)),
    ...tableOf('flag_words', '', flagCandidates(commands, ['required', 'optional'])),
    ...tableOf('next_words', '', flagCandidates(commands, ['required'])),
    replyFunction,
    mainFunction(commands.map(({ name }) => name).join(' ')),
  ].join('\n');
}

interface Row {
  readonly key: string;
  readonly words: string;
}

/** A function that prints the words of its argument, and those of `other` for an unknown one. */
function tableOf(name: string, other: string, rows: readonly Row[]): readonly string[] {
  const rest = rows.find(({ key }) => key === other)?.words ?? '';
  return [
    `__newrelic_exporter_${name}() {`,
    '  case $1 in',
    ...rows
      .filter(({ words }) => words !== '')
      .map(({ key, words }) => `    ${key}) printf '%s' '${words}' ;;`),
    `    *) printf '%s' '${rest}' ;;`,
    '  esac',
    '}',
    '',
  ];
}

function flagsOf({ name, flags }: CompletedCommand): Row {
  const words = flags.flatMap(({ names, value }) =>
    names.map((flag) => (value === 'required' && flag.startsWith('--') ? `${flag}=` : flag)),
  );
  return { key: name, words: words.join(' ') };
}

function operandOf({ name, operand }: CompletedCommand): Row {
  return { key: name, words: wordsOf(operand) };
}

/** Files are written as a word that no value has. */
function wordsOf(candidates: Candidates): string {
  return candidates === 'files' ? '<files>' : candidates.join(' ');
}

/** Of the flags whose value is such. */
function flagCandidates(
  commands: readonly CompletedCommand[],
  values: readonly CompletedFlag['value'][],
): readonly Row[] {
  const flags = new Map<string, CompletedFlag>(
    commands.flatMap((command) =>
      command.flags
        .filter(({ value }) => values.includes(value))
        .map((flag) => [flag.names.join('|'), flag] as const),
    ),
  );
  return [...flags].map(([key, { candidates }]) => ({
    key,
    // A flag with a value of any kind still takes the next word.
    words: wordsOf(candidates) === '' ? '<any>' : wordsOf(candidates),
  }));
}

/** Sets the answer: files, or those of the words that begin like that. */
const replyFunction = `__newrelic_exporter_reply() {
  local kind=$1 part=$2 prefix=$3
  if [ "$kind" = '<files>' ]; then
    type compopt >/dev/null 2>&1 && compopt -o filenames
    COMPREPLY=($(compgen -f -- "$part"))
  elif [ "$kind" != '<any>' ]; then
    COMPREPLY=($(compgen -P "$prefix" -W "$kind" -- "$part"))
  fi
}
`;

function mainFunction(commands: string): string {
  return `_newrelic_exporter() {
  local line=\${COMP_LINE:0:COMP_POINT} current='' previous='' command='' word known prefix=''
  local -a words
  read -ra words <<<"$line"
  case $line in
    *[[:space:]]) words+=('') ;;
  esac
  COMPREPLY=()
  local last=$((\${#words[@]} - 1)) index
  current=\${words[last]}
  for ((index = 1; index < last; index++)); do
    word=\${words[index]}
    known=''
    case $word in
      -*=*) ;;
      -*) known=$(__newrelic_exporter_next_words "$word") ;;
      *) [ -z "$command" ] && [ -z "$previous" ] && command=$word ;;
    esac
    previous=$known
  done
  if [ -n "$previous" ]; then
    __newrelic_exporter_reply "$previous" "$current"
    return
  fi
  case $current in
    --*=*)
      # What stands before "=" is kept by a bash that splits words there.
      case $COMP_WORDBREAKS in
        *=*) ;;
        *) prefix=\${current%%=*}= ;;
      esac
      __newrelic_exporter_reply "$(__newrelic_exporter_flag_words "\${current%%=*}")" "\${current#*=}" "$prefix"
      return
      ;;
    -*)
      __newrelic_exporter_reply "$(__newrelic_exporter_command_flags "\${command:-serve}")" "$current"
      case \${COMPREPLY[0]-} in
        *=) [ \${#COMPREPLY[@]} -eq 1 ] && type compopt >/dev/null 2>&1 && compopt -o nospace ;;
      esac
      return
      ;;
  esac
  if [ -z "$command" ]; then
    __newrelic_exporter_reply '${commands}' "$current"
  else
    __newrelic_exporter_reply "$(__newrelic_exporter_command_words "$command")" "$current"
  fi
}

complete -F _newrelic_exporter newrelic-exporter
`;
}
