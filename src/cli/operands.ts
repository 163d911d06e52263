import type { Command } from './flags.ts';
import { shells } from './shells.ts';

/** What may follow a command, once. */
export interface Operand {
  /** As in the help. */
  readonly name: 'FILE' | 'SHELL' | 'APP';
  readonly isRequired: boolean;
  /** The words that it may be, if not any. */
  readonly values?: readonly string[];
  /** What it must be, for who left it out. */
  readonly expected: string;
}

const configFile: Operand = {
  name: 'FILE',
  isRequired: false,
  expected: 'the path of a file',
};

const operands: Readonly<Partial<Record<Command, Operand>>> = {
  'check-config': configFile,
  plan: configFile,
  discover: configFile,
  metrics: {
    name: 'APP',
    isRequired: true,
    expected: 'the id of an application, or its name exactly as New Relic shows it',
  },
  compare: configFile,
  'print-config': configFile,
  completion: { name: 'SHELL', isRequired: true, values: shells, expected: shells.join(', ') },
};

/** `undefined` for a command that takes nothing but flags. */
export function operandOf(command: Command): Operand | undefined {
  return operands[command];
}
