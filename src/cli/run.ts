import { buildOf, versionText } from '../daemon/build.ts';
import { CommandError, type ExitCode, type Machine } from '../daemon/platform.ts';
import { ignoreWriteErrors } from '../telemetry/logger.ts';
import { parseArguments } from './arguments.ts';
import type { Command, Flags } from './flags.ts';
import { helpText } from './help.ts';
import { type Outcome, runOneShot } from './one-shot.ts';

/**
 * Runs the command that the arguments (without the program's own name) ask for. Commands are loaded
 * when they are needed: the daemon does not wait for the simulator.
 */
export async function run(argv: readonly string[], machine: Machine): Promise<ExitCode> {
  // Somebody who no longer reads what we write is no reason to fail.
  ignoreWriteErrors(machine.stdout);
  ignoreWriteErrors(machine.stderr);
  const parsed = parseArguments(argv, machine.env);
  try {
    switch (parsed.kind) {
      case 'help':
        machine.stdout.write(helpText(parsed.command));
        return 0;
      case 'version':
        machine.stdout.write(versionText(buildOf(machine.env)));
        return 0;
      case 'error':
        throw new CommandError(2, parsed.message);
      case 'run':
        return await runCommand(
          parsed.command,
          { argv, flags: parsed.flags },
          onHost(parsed.flags, machine),
        );
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    machine.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
}

type EndlessCommand = Extract<Command, 'serve' | 'demo'>;

function isEndless(command: Command): command is EndlessCommand {
  return command === 'serve' || command === 'demo';
}

/** Whether what the arguments ask for runs until it is stopped: then to be stopped is success. */
export function runsUntilStopped(argv: readonly string[], env: Machine['env']): boolean {
  const parsed = parseArguments(argv, env);
  return parsed.kind === 'run' && isEndless(parsed.command);
}

/** The machine by the name that it has in New Relic, if the flags say which that is. */
function onHost({ hostName }: Flags, machine: Machine): Machine {
  return hostName === '' ? machine : { ...machine, ownHostNames: [hostName] };
}

interface Wanted {
  readonly argv: readonly string[];
  /** What `argv` and the environment say. */
  readonly flags: Flags;
}

async function runCommand(
  command: Command,
  { argv, flags }: Wanted,
  machine: Machine,
): Promise<ExitCode> {
  if (!isEndless(command)) return runOneShot(async () => oneShot(command, flags, machine), machine);
  if (command === 'demo') return (await import('./demo.ts')).demo(flags, machine);
  if (flags.respawn) return (await import('../daemon/respawn.ts')).respawn(argv, flags, machine);
  return (await import('./serve.ts')).serve(flags, machine);
}

async function oneShot(
  command: Exclude<Command, EndlessCommand>,
  flags: Flags,
  machine: Machine,
): Promise<Outcome> {
  switch (command) {
    case 'once':
      return (await import('./once.ts')).once(flags, machine);
    case 'healthcheck':
      return (await import('./healthcheck.ts')).healthcheck(flags, machine);
    case 'check-config':
      return (await import('./check-config.ts')).checkConfig(flags, machine);
    case 'plan':
      return (await import('./plan.ts')).plan(flags, machine);
    case 'discover':
      return (await import('./discover.ts')).discover(flags, machine);
    case 'config-schema': {
      const { configJsonSchemaText } = await import('../config/schema.ts');
      return { exitCode: 0, output: configJsonSchemaText() };
    }
  }
}
