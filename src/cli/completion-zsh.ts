import type { Candidates, CompletedCommand, CompletedFlag } from './completion-model.ts';

/** For zsh: a file `_newrelic-exporter` in a folder of `fpath`, or text that it evaluates. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return [
    '#compdef newrelic-exporter',
    '# zsh completion for newrelic-exporter, made by "newrelic-exporter completion zsh".',
    '',
    '_newrelic-exporter() {',
    '  local -a commands',
    '  commands=(',
    ...commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`),
    '  )',
    '  local command= word',
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    `    case $word in`,
    `      ${commands.map(({ name }) => name).join('|')}) command=$word; break ;;`,
    '    esac',
    '  done',
    '  local first=": :{ _describe -t commands command commands }"',
    '  [[ -n $command ]] && first=":command:"',
    '  case ${command:-serve} in',
    ...commands.flatMap(caseOf),
    '  esac',
    '}',
    '',
    'if [[ $funcstack[1] == _newrelic-exporter ]]; then',
    '  _newrelic-exporter "$@"',
    'else',
    '  compdef _newrelic-exporter newrelic-exporter',
    'fi',
    '',
  ].join('\n');
}

function caseOf({ name, operand, flags }: CompletedCommand): readonly string[] {
  const lines = [
    '"$first"',
    ...(operand.length === 0 ? [] : [quoted(`:${operandName(operand)}:${actionOf(operand)}`)]),
    ...flags.flatMap(specsOf),
  ];
  return [
    `    ${name})`,
    '      _arguments -S \\',
    ...lines.map((line, index) => `        ${line}${index === lines.length - 1 ? '' : ' \\'}`),
    '      ;;',
  ];
}

function operandName(operand: Candidates): string {
  return operand === 'files' ? 'file' : 'word';
}

function specsOf(flag: CompletedFlag): readonly string[] {
  const { names, summary, isRepeatable } = flag;
  const exclusions = isRepeatable ? '*' : names.length > 1 ? `(${names.join(' ')})` : '';
  return names.map((name) =>
    quoted(`${exclusions}${name}${suffixOf(name, flag)}[${escaped(summary)}]${valueOf(flag)}`),
  );
}

/** After a long name comes `=` or a word of its own; a value that may be left out comes after `=` only. */
function suffixOf(name: string, { value }: CompletedFlag): string {
  if (value === 'none') return '';
  if (!name.startsWith('--')) return '+';
  return value === 'required' ? '=' : '=-';
}

function valueOf({ value, candidates }: CompletedFlag): string {
  if (value === 'none') return '';
  return `${value === 'required' ? ':' : '::'}value:${actionOf(candidates)}`;
}

function actionOf(candidates: Candidates): string {
  if (candidates === 'files') return '_files';
  return candidates.length === 0 ? '' : `(${candidates.join(' ')})`;
}

/** In the description of a flag. */
function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
