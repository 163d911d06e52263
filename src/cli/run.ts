import { buildOf, versionText } from '../daemon/build.ts';
import {
  CommandError,
  type ExitCode,
  type Platform,
  type ToolPlatform,
} from '../daemon/platform.ts';
import { ignoreWriteErrors } from '../publish/logger.ts';
import { type Arguments, parseArguments } from './arguments.ts';
import type { Command } from './commands.ts';
import type { Outcome } from './one-shot.ts';

/**
 * Runs the command that the arguments (without the program's own name) ask for. Commands are loaded on
 * demand: the daemon does not wait for the simulator.
 */
export async function run(argv: readonly string[], platform: Platform): Promise<ExitCode> {
  // A reader that goes away is no reason to fail.
  ignoreWriteErrors(platform.stdout);
  ignoreWriteErrors(platform.stderr);
  const parsed = parseArguments(argv, platform.env);
  try {
    switch (parsed.kind) {
      case 'help':
        platform.stdout.write(parsed.text);
        return 0;
      case 'version':
        platform.stdout.write(versionText(buildOf(platform.env)));
        return 0;
      case 'error':
        throw new CommandError(2, parsed.message);
      case 'run': {
        const { hostName } = parsed.flags;
        const named = hostName === '' ? platform : { ...platform, ownHostNames: [hostName] };
        return await runCommand(parsed, argv, named);
      }
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    platform.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
}

type EndlessCommand = Extract<Command, 'serve' | 'demo' | 'simulate'>;

function isEndless(command: Command): command is EndlessCommand {
  return command === 'serve' || command === 'demo' || command === 'simulate';
}

/** Whether the command runs until it is stopped, so that a stop is success. */
export function runsUntilStopped(argv: readonly string[], env: Platform['env']): boolean {
  const parsed = parseArguments(argv, env);
  return parsed.kind === 'run' && isEndless(parsed.command);
}

/** The command line of a command. */
type WantedRun = Extract<Arguments, { kind: 'run' }>;

async function runCommand(
  wanted: WantedRun,
  argv: readonly string[],
  platform: Platform,
): Promise<ExitCode> {
  const { command, flags } = wanted;
  if (!isEndless(command)) {
    const { runOneShot } = await import('./one-shot.ts');
    // What takes minutes to read is not thrown away.
    const keepsParts = command === 'metrics' || command === 'backfill';
    return runOneShot(async (one) => oneShots[command](wanted, one), keepsParts, platform);
  }
  if (command === 'demo') return (await import('../demo/demo.ts')).demo(argv, flags, platform);
  if (command === 'simulate') {
    return (await import('../demo/simulate.ts')).simulate(flags, platform);
  }
  if (flags.respawn) return (await import('../daemon/respawn.ts')).respawn(argv, flags, platform);
  return (await import('../daemon/serve.ts')).serve(flags, platform);
}

/** The commands that end by themselves, each with what loads and runs it. */
const oneShots: Readonly<
  Record<
    Exclude<Command, EndlessCommand>,
    (wanted: WantedRun, platform: ToolPlatform) => Promise<Outcome>
  >
> = {
  once: async ({ flags }, platform) => (await import('../tools/once.ts')).once(flags, platform),
  healthcheck: async ({ flags }, platform) =>
    (await import('../tools/healthcheck.ts')).healthcheck(flags, platform),
  'check-config': async ({ flags }, platform) =>
    (await import('../tools/check-config/check-config.ts')).checkConfig(flags, platform),
  plan: async ({ flags }, platform) =>
    (await import('../tools/plan/plan.ts')).plan(flags, platform),
  discover: async ({ flags }, platform) =>
    (await import('../tools/discover/discover.ts')).discover(flags, platform),
  metrics: async ({ operand, flags }, platform) =>
    (await import('../tools/metrics/metrics.ts')).metrics(operand, flags, platform),
  compare: async ({ flags }, platform) =>
    (await import('../tools/compare/compare.ts')).compare(flags, platform),
  backfill: async ({ flags }, platform) =>
    (await import('../tools/backfill/backfill.ts')).backfill(flags, platform),
  verify: async ({ flags }, platform) =>
    (await import('../tools/verify/verify.ts')).verify(flags, platform),
  'print-config': async ({ flags, settings }, platform) =>
    (await import('../tools/print-config.ts')).printConfig(flags, settings, platform),
  'config-schema': async () => {
    const { configJsonSchema } = await import('../config/schema.ts');
    return { exitCode: 0, output: `${JSON.stringify(configJsonSchema(), undefined, 2)}\n` };
  },
};
