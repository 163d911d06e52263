import { flagTable } from './flag-table.ts';
import { bareTextOf, type Command, commands, type Flag, isFor } from './flags.ts';
import { summaryOf } from './help.ts';
import { operandOf } from './operands.ts';

/** What may stand in a place: a file, or one of some words. */
export type Candidates = 'files' | readonly string[];

/** A flag as a shell has to know it. */
export interface CompletedFlag {
  /** With its dashes: `--output`, `-o`. */
  readonly names: readonly string[];
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Whether a value follows: always, only after `=`, or never. */
  readonly value: 'required' | 'optional' | 'none';
  /** What the value may be, as far as that is known. */
  readonly candidates: Candidates;
  readonly isRepeatable: boolean;
}

export interface CompletedCommand {
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** What may follow the command. */
  readonly operand: Candidates;
  readonly flags: readonly CompletedFlag[];
}

const switches: readonly CompletedFlag[] = [
  aSwitch(['--help', '-h'], 'Show the help'),
  aSwitch(['--version', '-v'], 'Show the version'),
];

/** Every command with its flags, from the same tables as the help. Without a command, `serve` is meant. */
export function completedCommands(): readonly CompletedCommand[] {
  return [
    ...commands.map(completedCommand),
    { name: 'help', summary: 'Show the help, or that of a command', operand: commands, flags: [] },
    { name: 'version', summary: 'Show the version', operand: [], flags: [] },
  ];
}

function completedCommand(name: Command): CompletedCommand {
  const flags: readonly Flag<unknown>[] = Object.values(flagTable);
  const operand = operandOf(name);
  return {
    name,
    summary: firstSentence(summaryOf(name)),
    operand: operand?.name === 'FILE' ? 'files' : (operand?.values ?? []),
    flags: [...flags.filter((flag) => isFor(flag, name)).map(completedFlag), ...switches],
  };
}

function completedFlag(flag: Flag<unknown>): CompletedFlag {
  const { name, alias, short, help, isFile, isRepeatable, isSwitch, values } = flag;
  return {
    names: [
      `--${name}`,
      ...(alias === undefined ? [] : [`--${alias}`]),
      ...(short === undefined ? [] : [`-${short}`]),
    ],
    summary: firstSentence(help),
    value: valueOf(flag),
    candidates: isFile === true ? 'files' : isSwitch === true ? [] : (values ?? []),
    isRepeatable: isRepeatable === true,
  };
}

function valueOf(flag: Flag<unknown>): CompletedFlag['value'] {
  if (flag.isSwitch === true) return 'none';
  return bareTextOf(flag) === undefined ? 'required' : 'optional';
}

function aSwitch(names: readonly string[], summary: string): CompletedFlag {
  return { names, summary, value: 'none', candidates: [], isRepeatable: false };
}

/** Up to the first full stop, colon or semicolon: a shell shows it beside the word. */
function firstSentence(text: string): string {
  return text.replace(/(?:\. |[.:;]( |$)).*$/su, '');
}
