import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import pLimit from 'p-limit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { kubectlValidate, schemaReport } from './api-schemas.ts';
import { arbitraryOf, checkerOf } from './arbitrary-values.ts';
import { chart, helm4 } from './chart.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { readConfigSchema, readValues, valuesSchema } from './values-schema.ts';

const run = promisify(execFile);

const schema = valuesSchema(readValues(), readConfigSchema());
const definitions = schema['definitions'] as JsonObject;
const properties = schema['properties'] as JsonObject;
const isAllowed = checkerOf(definitions);

/**
 * Values that together decide whether anything is rendered, which test/helm/validate.test.ts is about; and
 * what may be of any kind.
 */
const fixed: ReadonlySet<string> = new Set([
  'accounts',
  'apiKey',
  'config',
  'configExistingConfigMap',
  'configReload',
  'extraManifests',
  'mode',
  'replicas',
  'sharding',
  'terminationGracePeriodSeconds',
  'web',
]);
const base = {
  apiKey: { existingSecret: 'newrelic' },
  config: { apps: [{ id: 1 }] },
};
/** All objects that can be made. */
const enabled: Readonly<Record<string, JsonObject>> = {
  ingress: { enabled: true, hosts: ['exporter.example.com'] },
  networkPolicy: { enabled: true },
  pdb: { enabled: true },
  podMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  serviceMonitor: { enabled: true },
};

/** Random values of one key of values.yaml, which the schema allows. */
function valuesOf(key: string): fc.Arbitrary<JsonObject> {
  const type = properties[key];
  if (!isObject(type)) throw new Error(`${key} has no schema`);
  return arbitraryOf(type, definitions)
    .filter((value) => isAllowed(type, value))
    .map((value: Json) => ({
      ...base,
      ...enabled,
      [key]: isObject(value) ? { ...value, ...enabled[key] } : value,
    }));
}

interface Rendering {
  readonly values: JsonObject;
  /** The objects, or what the chart has against the values. */
  readonly text: string;
  readonly isRefused: boolean;
}

async function render(file: string, values: JsonObject): Promise<Rendering> {
  writeFileSync(file, JSON.stringify(values));
  const args = ['template', 'release', chart, '--kube-version=1.30.0', `--values=${file}`];
  try {
    const { stdout } = await run(helm4.path, args, { maxBuffer: 64 * 1024 * 1024 });
    return { values, text: stdout, isRefused: false };
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    return { values, text, isRefused: true };
  }
}

describe.skipIf(helm4.skip || kubectlValidate.skip)(
  `values that the schema allows${helm4.note}${kubectlValidate.note}`,
  () => {
    it('make objects that the API takes, or are refused before they are rendered', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'newrelic-exporter-accepted-'));
      onTestFinished(() => {
        rmSync(folder, { recursive: true });
      });
      const objects = join(folder, 'objects');
      mkdirSync(objects);
      const defaults = readValues();
      const keys = Object.keys(properties).filter(
        (key) => !fixed.has(key) && typeof defaults[key] === 'object',
      );
      const limit = pLimit(3);

      const renderings = await Promise.all(
        keys.flatMap((key) =>
          fc
            .sample(valuesOf(key), { numRuns: 2, seed: 1 })
            .map(async (values, index) =>
              limit(async () => render(join(folder, `${key}-${index}.json`), values)),
            ),
        ),
      );
      for (const [index, { text, isRefused }] of renderings.entries()) {
        if (!isRefused) writeFileSync(join(objects, `${index}.yaml`), text);
      }
      const report = await schemaReport([objects], '1.30');

      // By a sentence of the chart, or by the schema once the defaults are there, but not within a template.
      const refused = renderings.filter(({ isRefused }) => isRefused);
      expect(
        refused.filter(
          ({ text }) => !/execution error at .*: [a-z]|meet the specifications/u.test(text),
        ),
      ).toEqual([]);
      expect(refused.length).toBeLessThan(renderings.length / 4);
      expect(report).toContain('OK');
      expect(report.split('\n').filter((line) => line !== '' && !line.includes('OK'))).toEqual([]);
    });
  },
);
