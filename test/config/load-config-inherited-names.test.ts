import { describe, expect, it } from 'vitest';
import { NamedFileError, readApiKey } from '../../src/config/named-file.ts';
import { findingsIn } from './config-failure.ts';

const nerdgraph = '{ name: one, source: nerdgraph, account_id: 1, api_key_env: K }';
const withQuery = `accounts: [${nerdgraph}]\napps: [{ match: "." }]\nqueries: `;

/** All places of a file that have a name of somebody's choice. */
const textsWith = (name: string): Readonly<Record<string, string>> => ({
  account: `accounts: [{ name: ${name}, api_key_env: ${name} }]\napps: [{ id: 1, account: ${name}x }]`,
  key: `${name}: 1\napps: [{ id: 1, ${name}: 1, ${name}x: 1, poll: { ${name}: 1 } }]`,
  label: `apps: [{ id: 1, labels: { ${name}: x, y: ${name} } }]`,
  labelWithList: `apps: [{ id: 1, labels: { ${name}: [x] } }]`,
  preset: `apps: [{ id: 1, metrics: [${name}, { metric: ${name}, value: ${name}, as: ${name} }] }]`,
  choice: `accounts: [{ name: a, region: ${name}, source: ${name}, api_key_env: K }]\napps: [{ id: 1 }]`,
  tag: `accounts: [${nerdgraph}]\napps: [{ match: ".", tags: [${name}] }]`,
  tagOfMap: `accounts: [${nerdgraph}]\napps: [{ match: ".", tags: { ${name}: ${name} } }]`,
  facet: `${withQuery}[{ as: x, nrql: "SELECT count(*) FROM T FACET ${name}" }]`,
  member: `${withQuery}[{ as: { ${name}: x }, nrql: "SELECT max(a) AS ${name} FROM ${name}", labels: { ${name}: x } }]`,
  nothing: `${withQuery}[{ as: ${name}, nrql: "${name}", labels: { a: ${name} } }]`,
});

describe.each(Object.getOwnPropertyNames(Object.prototype))(
  '%s, which every object has a member of',
  (name) => {
    it.each(Object.keys(textsWith(name)))('is a name like any other as %s', async (place) => {
      const found = await findingsIn(new Map(Object.entries(textsWith(name))).get(place) ?? '');

      expect(found.map(({ message }) => message).join('\n')).not.toMatch(/native code|\[object/u);
    });

    it('is a variable that is not set', async () => {
      const dependencies = { env: {}, readFile: async () => new Uint8Array() };

      await expect(readApiKey({ kind: 'env', name }, dependencies)).rejects.toThrow(NamedFileError);
    });
  },
);
