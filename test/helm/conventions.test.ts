import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeWordsIn, rowsWith } from '../docs/markdown.ts';
import { chart, helm3, helm4, render } from './chart.ts';
import { readChart } from './chart-questions.ts';
import { conventions } from './conventions.ts';
import type { Json } from './json.ts';
import type { Manifest } from './manifests.ts';
import { readValues } from './values-schema.ts';

const document = readFileSync(
  fileURLToPath(new URL('../../docs/helm-conventions.md', import.meta.url)),
  'utf8',
);
const where = 'where, or why not';
const rows = rowsWith(document, ['convention', 'has', where]);

/** An application's chart, which has this chart as a dependency. */
const application = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 0.1.0\n',
  'values.yaml': `newrelic-exporter:
  mode: sidecar
  apiKey: { existingSecret: newrelic }
  config: { apps: [{ id: 1 }] }
`,
  'templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: { name: shop }
spec:
  template:
    {{- $own := dict "spec" (dict "containers" (list (dict "name" "shop" "image" "shop"))) }}
    {{- include "newrelic-exporter.sidecar.inject" (dict "template" $own "exporter" (index .Subcharts "newrelic-exporter")) | nindent 4 }}
`,
};

function isValue(path: string): boolean {
  const found = path
    .split('.')
    .reduce<Json | undefined>(
      (value, key) => (value as Readonly<Record<string, Json>> | undefined)?.[key],
      readValues(),
    );
  return found !== undefined;
}

function isTold(word: string): boolean {
  return (
    isValue(word) ||
    existsSync(join(chart, word)) ||
    existsSync(fileURLToPath(new URL(`../../${word}`, import.meta.url))) ||
    ['Chart.yaml', 'templates/_pod.tpl', 'templates/_sidecar.tpl'].some((file) =>
      readChart(file).includes(word),
    )
  );
}

describe('docs/helm-conventions.md', () => {
  it('has a line for each convention', () => {
    expect(rows.map(({ convention }) => convention)).toEqual(conventions.map(({ name }) => name));
    expect(rows).toHaveLength(44);
  });

  it('counts them', () => {
    const count = rows.filter(({ has }) => has === '1').length;

    expect(document).toContain(`The chart has ${count} of ${rows.length}.`);
  });

  it.each(rows)('says of "$convention" where it is, or why not: $has', (row) => {
    const text = row[where] ?? '';

    expect(row['has']).toMatch(/^[01]$/u);
    // A reason takes more than a word.
    expect(row['has'] === '1' || text.length > 100).toBe(true);
    expect(codeWordsIn(text).filter((word) => row['has'] === '1' && !isTold(word))).toEqual([]);
  });
});

describe.skipIf(helm3.skip || helm4.skip)(`the conventions${helm3.note}${helm4.note}`, () => {
  let directory: string;
  let manifests: readonly Manifest[];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'newrelic-exporter-shop-'));
    mkdirSync(join(directory, 'templates'));
    for (const [name, text] of Object.entries(application))
      writeFileSync(join(directory, name), text);
    cpSync(chart, join(directory, 'charts/newrelic-exporter'), { recursive: true });
    manifests = await render({ helm: helm4.path, path: directory });
  });

  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  it.each(conventions)('hold as the document says: $name', async ({ name, holds }) => {
    const row = rows.find(({ convention }) => convention === name);

    expect(`${name}: ${(await holds(manifests)) ? 1 : 0}`).toBe(`${name}: ${row?.['has']}`);
  });
});
