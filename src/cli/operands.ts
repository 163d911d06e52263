import type { Command } from './flags.ts';
import { shells } from './shells.ts';

/** What may follow a command, once. */
export interface Operand {
  /** As in the help. */
  readonly name: 'FILE' | 'SHELL';
  readonly isRequired: boolean;
  /** The words that it may be; `undefined` for the configuration file. */
  readonly values?: readonly string[];
}

const configFile: Operand = { name: 'FILE', isRequired: false };

const operands: Readonly<Partial<Record<Command, Operand>>> = {
  'check-config': configFile,
  plan: configFile,
  discover: configFile,
  compare: configFile,
  'print-config': configFile,
  completion: { name: 'SHELL', isRequired: true, values: shells },
};

/** `undefined` for a command that takes nothing but flags. */
export function operandOf(command: Command): Operand | undefined {
  return operands[command];
}
