import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { run } from '../../src/cli/run.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { withServing } from '../support/serving.ts';
import { tlsText } from '../support/tls-files.ts';
import { shellWordsIn } from './command-rule.ts';
import { projectFolder, readDocument } from './documents.ts';
import { polledOf } from './polled-rule.ts';

const folder = 'examples/configurations';

const files = readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => ({ name, text: readDocument(join(folder, name)).text }));
/** What stands in a folder below is a part of an example. */
const examples = files.filter(({ name }) => !name.includes('/'));

/** The commands of the exporter that the head of an example shows, without the name of the program. */
const commands = examples.flatMap(({ name, text }) =>
  [...text.matchAll(/^# {3}newrelic-exporter (?<command>.+)$/gmu)].map(({ groups }) => ({
    name,
    text,
    command: groups?.['command'] ?? '',
  })),
);
const starts = commands.filter(({ command }) => command.startsWith('--'));
const others = commands.filter(({ command }) => !command.startsWith('--'));

/** New Relic, as the examples suppose it: of each pattern and name there is an application, and some of staging. */
const fleet: FleetOptions = {
  applications: [
    {
      name: 'Checkout (production)',
      hosts: [{ name: 'checkout-5d8f' }, { name: 'node-17' }],
      tags: { team: 'payments', environment: 'production' },
    },
    { name: 'Checkout (staging)' },
    { name: 'STAGING shop' },
    ...Array.from({ length: 5 }, (_, index) => ({ name: `shop-${index}` })),
  ].map((spec) => ({ kind: 'both', hosts: 2, ...spec })),
};

const keyOf = (index: number): string => `NRAK-${String.fromCodePoint(65 + index).repeat(27)}`;

const proxyUrl = 'http://user:password@proxy.example.com:3128';

const accountsSchema = z.object({
  accounts: z.array(
    z.looseObject({
      api_key_file: z.string().optional(),
      api_key_env: z.string().optional(),
      proxy_url_file: z.string().optional(),
      ca_file: z.string().optional(),
    }),
  ),
});

/** A machine with the example, all that it names, and a New Relic behind whatever stands in front of it. */
function machineWith({ name, text }: (typeof examples)[number]): FakePlatform {
  const { accounts } = accountsSchema.parse(parse(text));
  const here: Record<string, string> = { [name]: text, '/config.yaml': text };
  const env: Record<string, string> = {};
  for (const [index, account] of accounts.entries()) {
    const {
      api_key_file: key,
      api_key_env: variable,
      proxy_url_file: proxy,
      ca_file: ca,
    } = account;
    // Beside the file, wherever that is.
    for (const directory of ['', '/']) {
      for (const part of files) here[resolve(directory, part.name)] ??= part.text;
      if (key !== undefined) here[resolve(directory, key)] = `${keyOf(index)}\n`;
      if (proxy !== undefined) here[resolve(directory, proxy)] = `${proxyUrl}\n`;
      if (ca !== undefined) here[resolve(directory, ca)] = tlsText('ca');
    }
    if (variable !== undefined) env[variable] = keyOf(index);
  }
  const platform = createFakePlatform({
    files: here,
    env,
    ownHostNames: ['checkout-5d8f'],
    openTransport: async ({ baseUrl }) => {
      const wire = inMemoryTransport(simulator);
      // A gateway forwards what stands behind its own path.
      const { pathname } = new URL(baseUrl);
      return {
        ...wire,
        send: async ({ target, ...request }, ...rest) =>
          wire.send(
            { ...request, target: target.replace(pathname.replace(/\/$/u, ''), '') },
            ...rest,
          ),
      };
    },
  });
  const simulator = createSimulator(
    { apiKeys: accounts.map((_, index) => keyOf(index)), fleet },
    { clock: platform.clock },
  );
  return platform;
}

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

  it.each(examples)('$name is accepted without a warning', async (example) => {
    const platform = machineWith(example);

    const exitCode = await ended(['check-config', example.name], platform);

    expect({ exitCode, said: platform.stderr.text() }).toEqual({ exitCode: 0, said: '' });
    expect(platform.stdout.text()).toContain(' 0 warnings\n');
  });

  it.each(others)('$name: $command succeeds', async ({ command, ...example }) => {
    const platform = machineWith(example);

    const exitCode = await ended(shellWordsIn(command), platform);

    expect({ exitCode, said: platform.stderr.text() }).toEqual({ exitCode: 0, said: '' });
  });

  it.each(starts)('$name: $command has values for each entry', async ({ command, ...example }) => {
    const platform = machineWith(example);
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
