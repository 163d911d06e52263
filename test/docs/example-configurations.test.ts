import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { run } from '../../src/cli/run.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { FakePlatform } from '../support/fake-platform.ts';
import { withServing } from '../support/serving.ts';
import { shellWordsIn } from './command-rule.ts';
import { readDocument } from './documents.ts';
import { commands, examples, files, folder, machineWith } from './example-machine.ts';
import { polledOf } from './polled-rule.ts';

const starts = commands.filter(({ command }) => command.startsWith('--'));
const others = commands.filter(({ command }) => !command.startsWith('--'));

const appsSchema = z.object({
  apps: z
    .array(
      z.object({
        name: z.string().optional(),
        match: z.string().default('^$'),
        exclude: z.boolean().default(false),
      }),
    )
    .default([]),
});

async function ended(args: readonly string[], platform: FakePlatform): Promise<number> {
  const state = { hasEnded: false };
  const ending = run(args, platform).finally(() => {
    state.hasEnded = true;
  });
  while (!state.hasEnded) await platform.clock.advance(1000);
  return ending;
}

/** Calls a minute that the head of an example names outright, rather than for each application; `undefined` if none. */
function statedCost(text: string, hosts: number): number | undefined {
  const stated =
    /^# Costs: +(?<calls>\d+) calls (?<unit>a minute|an hour)(?<more>, and 1 for each host)?/mu;
  const { calls, unit, more } = stated.exec(text)?.groups ?? {};
  if (calls === undefined) return undefined;
  return (
    Number(calls) / (unit === 'an hour' ? hourMs / minuteMs : 1) + (more === undefined ? 0 : hosts)
  );
}

describe('examples/configurations', () => {
  it.each(examples)(
    '$name says for whom it is, what it costs, what to change and how to start it',
    ({ name, text }) => {
      const shown = commands.filter((one) => one.name === name).map(({ command }) => command);

      expect(text).toMatch(
        /^# .+\n#\n# For whom: {2}\S[^]+\n# Costs: {5}\S[^]+\n# To change: \S[^]+\naccounts:\n/u,
      );
      expect(shown.filter((command) => command.startsWith(`--config.file=${name}`))).not.toEqual(
        [],
      );
      expect(shown.filter((command) => !command.includes(name))).toEqual([]);
      expect(readDocument('docs/configuration.md').text).toContain(
        `[${name}](../${folder}/${name})`,
      );
    },
  );

  it.each(files)('$name chooses applications that the simulated account has', ({ text }) => {
    const options = { fleet: { applications: 8 } };
    const applications = createSimulator(options, {
      clock: createFakeClock(),
    }).fleet.applications();
    const { apps } = appsSchema.parse(parse(text, { merge: true }));

    const without = apps.filter(
      ({ exclude, name, match }) =>
        !exclude &&
        !applications.some((one) => one.name === name || new RegExp(match, 'u').test(one.name)),
    );

    expect(without).toEqual([]);
  });

  it.each(examples)('$name is accepted without a warning', async (example) => {
    const { platform } = machineWith(example);

    const exitCode = await ended(['check-config', example.name], platform);

    expect({ exitCode, said: platform.stderr.text() }).toEqual({ exitCode: 0, said: '' });
    expect(platform.stdout.text()).toContain(' 0 warnings\n');
  });

  it.each(others)('$name: $command succeeds', async ({ command, ...example }) => {
    const { platform } = machineWith(example);

    const exitCode = await ended(shellWordsIn(command), platform);

    expect({ exitCode, said: platform.stderr.text() }).toEqual({ exitCode: 0, said: '' });
  });

  it.each(starts)('$name: $command has values for each entry', async ({ command, ...example }) => {
    const { platform } = machineWith(example);
    const { config } = await loadConfig('/config.yaml', platform);
    const flags = shellWordsIn(command).filter((word) => !word.startsWith('--config.file='));

    await withServing(flags, platform, async ({ page }) => {
      // Two polls each: then it is known which metrics never have a value.
      await platform.clock.advance(3 * minuteMs);
      const { problems, hosts, demand } = await polledOf(config, page);

      expect(problems).toEqual([]);
      expect(platform.stderr.text()).not.toMatch(/"level":"(?:warn|error)"/u);
      expect(statedCost(example.text, hosts) ?? demand).toBeCloseTo(demand, 6);
    });
  });
});
