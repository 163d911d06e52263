import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { chart, helm3, helm4, manifestsIn } from './chart.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

const lines = readFileSync(join(chart, 'values.yaml'), 'utf8').split('\n');

interface Example {
  readonly path: string;
  readonly value: Json;
}

/** The key of each line and those around it, by their indentation; nothing on lines without a key. */
function pathsOf(texts: readonly string[]): readonly (readonly string[] | undefined)[] {
  const { paths } = texts.reduce<{
    readonly keys: readonly string[];
    readonly paths: readonly (readonly string[] | undefined)[];
  }>(
    ({ keys, paths: before }, line) => {
      const [, indentation = '', key] = /^( *)(\w+):/u.exec(line) ?? [];
      if (key === undefined) return { keys, paths: [...before, undefined] };
      const own = [...keys.slice(0, indentation.length / 2), key];
      return { keys: own, paths: [...before, own] };
    },
    { keys: [], paths: [] },
  );
  return paths;
}

const paths = pathsOf(lines);

/** Comments without "# --", each with the key that has the same indentation above it. */
function examplesIn(texts: readonly string[]): readonly Example[] {
  const found = new Map<string, readonly string[]>();
  let isDescription = false;
  for (const [index, line] of texts.entries()) {
    const [, indentation = '', text] = /^( *)#(.*)$/u.exec(line) ?? [];
    isDescription = text !== undefined && (isDescription || /^ (?:--|@)/u.test(text));
    if (text !== undefined && !isDescription) {
      const depth = indentation.length / 2 + 1;
      const path = paths.slice(0, index).findLast((one) => one?.length === depth);
      const key = path?.join('.') ?? '';
      found.set(key, [...(found.get(key) ?? []), text.slice(1)]);
    }
  }
  return [...found].map(([path, body]) => ({ path, value: parse(body.join('\n')) as Json }));
}

const examples = examplesIn(lines);

function withValue(
  values: JsonObject,
  [key = '', ...rest]: readonly string[],
  value: Json,
): JsonObject {
  const below = values[key];
  return {
    ...values,
    [key]: rest.length === 0 ? value : withValue(isObject(below) ? below : {}, rest, value),
  };
}

const enabled = [
  'httpRoute',
  'ingress',
  'networkPolicy',
  'pdb',
  'podMonitor',
  'podMonitoring',
  'prometheusRule',
  'scrapeConfig',
  'serviceMonitor',
  'vpa',
];

/** All examples at a time, but without one that the mode does not have. */
function valuesFor(mode: string, without: string): JsonObject {
  return [
    { path: 'mode', value: mode },
    { path: 'service.type', value: 'LoadBalancer' },
    ...enabled.map((path) => ({ path: `${path}.enabled`, value: true })),
    ...examples,
  ]
    .filter(({ path }) => path !== without)
    .reduce<JsonObject>((values, { path, value }) => withValue(values, path.split('.'), value), {});
}

/** Labels, annotations and the like: everybody knows how these are written. */
const plain = /(?:^|\.)(?:\w*[lL]abels|\w*[aA]nnotations)$/u;

describe('the examples in values.yaml', () => {
  it('are there for every list, and for every map but those of texts', () => {
    const empty = lines.flatMap((line, index) =>
      /: (?:\{\}|\[\])$/u.test(line) ? [paths[index]?.join('.') ?? ''] : [],
    );
    const known = new Set(examples.map(({ path }) => path));

    expect(empty.length).toBeGreaterThan(60);
    expect(empty.filter((path) => !known.has(path) && !plain.test(path))).toEqual([]);
  });

  describe.each([
    { helm: 'helm 3', tool: helm3 },
    { helm: 'helm 4', tool: helm4 },
  ])('by $helm', ({ tool }) => {
    it.skipIf(tool.skip).each([
      { mode: 'deployment', without: 'updateStrategy' },
      { mode: 'statefulset', without: 'strategy' },
    ])(`are taken all at a time in the mode $mode${tool.note}`, ({ mode, without }) => {
      const folder = mkdtempSync(join(tmpdir(), 'newrelic-exporter-examples-'));
      onTestFinished(() => {
        rmSync(folder, { recursive: true });
      });
      const file = join(folder, 'values.json');
      writeFileSync(file, JSON.stringify(valuesFor(mode, without)));

      const text = execFileSync(
        tool.path,
        ['template', 'release', chart, '--kube-version=1.34.0', `--values=${file}`],
        { encoding: 'utf8', stdio: 'pipe' },
      );
      const manifests = manifestsIn(text);

      expect(manifests.length).toBeGreaterThan(14);
    });
  });
});
