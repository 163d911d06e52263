import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ApiResponse, RawTransport } from '../../src/newrelic/calls/transport.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { createFakePlatform, type FakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { tlsText } from '../support/tls-files.ts';
import { projectFolder, readDocument } from './documents.ts';

export const folder = 'examples/configurations';

export interface Example {
  readonly name: string;
  readonly text: string;
}

/** The examples, and what they include. */
export const files: readonly Example[] = readdirSync(join(projectFolder, folder), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => ({ name, text: readDocument(join(folder, name)).text }));
/** What stands in a folder below is a part of an example. */
export const examples: readonly Example[] = files.filter(({ name }) => !name.includes('/'));

/** The commands of the exporter that the head of an example shows, without the name of the program. */
export const commands: readonly (Example & { readonly command: string })[] = examples.flatMap(
  ({ name, text }) =>
    [...text.matchAll(/^# {3}newrelic-exporter (?<command>.+)$/gmu)].map(({ groups }) => ({
      name,
      text,
      command: groups?.['command'] ?? '',
    })),
);
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
      account_id: z.number().optional(),
    }),
  ),
});

/** What is wrong for a while between the exporter and New Relic. */
export interface Trouble {
  answer: ((answer: ApiResponse) => ApiResponse) | undefined;
}

export interface Machine {
  readonly platform: FakePlatform;
  readonly simulators: readonly Simulator[];
}

/** A machine with the example, all that it names, and a New Relic behind whatever stands in front of it. */
export function machineWith(example: Example, trouble?: Trouble): Machine {
  const { accounts } = accountsSchema.parse(parse(example.text, { merge: true }));
  const platform = createFakePlatform({
    ...filesFor(example, accounts),
    ownHostNames: ['checkout-5d8f'],
    openTransport: async ({ baseUrl }) => {
      // A gateway forwards what stands behind its own path.
      const prefix = new URL(baseUrl).pathname.replace(/\/$/u, '');
      return {
        send: async ({ target, ...request }, ...rest) => {
          const call = { ...request, target: target.replace(prefix, '') };
          const answer = await wireFor(request.body).send(call, ...rest);
          const whole = withAccounts(answer, ids);
          return trouble?.answer?.(whole) ?? whole;
        },
        close: async () => undefined,
      };
    },
  });
  const apiKeys = accounts.map((_, index) => keyOf(index));
  const ids = [...new Set(accounts.map(({ account_id: id }) => id))];
  const simulators = ids.map((accountId) =>
    createSimulator({ apiKeys, fleet, graphql: { accountId } }, { clock: platform.clock }),
  );
  const wires = simulators.map(inMemoryTransport);
  /** NerdGraph is asked about one account at a time; what names none is about the first. */
  const wireFor = (body = ''): RawTransport => {
    const index = ids.findIndex((id) => id !== undefined && body.includes(String(id)));
    const wire = wires[Math.max(0, index)];
    if (wire === undefined) throw new Error('the example has no account');
    return wire;
  };
  return { platform, simulators };
}

/** Of a list of accounts each simulator knows its own alone; a key sees all. */
function withAccounts(answer: ApiResponse, ids: readonly (number | undefined)[]): ApiResponse {
  const listed = ids.map((id) => ({ id, name: `Account ${id}` }));
  const body = answer.body.replace(
    /"accounts":\[[^\]]*\]/u,
    `"accounts":${JSON.stringify(listed)}`,
  );
  return { ...answer, body };
}

/** What stands in the file system and in the environment. */
function filesFor(
  { name, text }: Example,
  accounts: z.infer<typeof accountsSchema>['accounts'],
): Readonly<Record<'files' | 'env', Readonly<Record<string, string>>>> {
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
  return { files: here, env };
}
