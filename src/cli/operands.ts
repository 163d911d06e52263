import type { Command } from './flags.ts';

/** What may follow a command, once. */
export interface Operand {
  /** As in the help. */
  readonly name: 'FILE' | 'APP';
  readonly isRequired: boolean;
  /** What it must be, told to somebody who left it out. */
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
};

/** `undefined` for a command that takes nothing but flags. */
export function operandOf(command: Command): Operand | undefined {
  return operands[command];
}
