import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { chart } from './chart.ts';
import type { Json } from './json.ts';
import { readConfigSchema, readValues, valuesSchema } from './values-schema.ts';

const schemaPath = fileURLToPath(
  new URL('../../helm/newrelic-exporter/values.schema.json', import.meta.url),
);

function leavesOf(value: Json, path: string): readonly string[] {
  const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isBranch ? Object.entries(value) : [];
  return entries.length === 0
    ? [path]
    : entries.flatMap(([key, child]) => leavesOf(child, path === '' ? key : `${path}.${key}`));
}

function templateFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? templateFiles(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

const templates = templateFiles(join(chart, 'templates'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
/** What templates reach by `with`, `range` or `get`, or hand on as a whole. */
const indirect =
  /^(?:config|podSecurityContext|securityContext|livenessProbe|readinessProbe|sidecar\.(?:resources|securityContext)|networkPolicy\.egress|prometheusRule\.groups|(?:service|pod)Monitor|scrapeConfig|podMonitoring|dashboards\.grafanaOperator|nodeSelector|tolerations|affinity|topologySpreadConstraints|priorityClassName|dnsConfig|hostAliases)(?:\.|$)/u;

describe('values.schema.json', () => {
  it('is what values.yaml and config.schema.json make of it', async () => {
    const schema = valuesSchema(readValues(), readConfigSchema());

    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(schemaPath);
  });
});

describe('the values', () => {
  it('are all used by a template', () => {
    const unused = leavesOf(readValues(), '').filter(
      (path) =>
        !indirect.test(path) &&
        !templates.includes(`.${path}`) &&
        !templates.includes(`.${path.split('.').slice(1).join('.')}`),
    );

    expect(unused).toEqual([]);
  });

  it('are all there that a template uses', () => {
    const known = new Set(
      leavesOf(readValues(), '').flatMap((path) => {
        const parts = path.split('.');
        return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
      }),
    );
    const used = [...templates.matchAll(/\$?\.Values\.([A-Za-z.]+[A-Za-z])/gu)].map(
      ([, path = '']) => path,
    );

    expect(used.length).toBeGreaterThan(60);
    expect(used.filter((path) => !known.has(path))).toEqual([]);
  });
});
