import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { shellCommandsIn } from '../docs/command-rule.ts';
import { readDocument, readProductDocuments } from '../docs/documents.ts';
import { messagesOf } from '../docs/example-rule.ts';
import { codeBlocksIn } from '../docs/markdown.ts';
import { chart, helm3, manifestsIn, render } from './chart.ts';
import { containersOf, podsIn } from './manifests.ts';

const { text: document } = readDocument('docs/kubernetes.md');
const kubeVersion = '--kube-version=1.34.0';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'newrelic-exporter-documents-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Blocks of values, put on top of what every release needs. */
const valuesBlocks = readProductDocuments().flatMap(({ path, text }) =>
  codeBlocksIn(text)
    .filter((block) => block.text.startsWith('# my-values.yaml\n'))
    .map(({ text: values }, index) => ({ path, number: index + 1, values })),
);
const least = JSON.stringify({ apiKey: { existingSecret: 'a' }, config: { apps: [{ id: 1 }] } });

function rendered(values: string): string {
  const folder = folderWith({ 'least.yaml': least, 'my-values.yaml': values });
  const files = ['least.yaml', 'my-values.yaml'].map((name) => `--values=${join(folder, name)}`);
  const args = ['template', 'exporter', chart, kubeVersion, ...files];
  return execFileSync(helm3.path, args, { encoding: 'utf8', stdio: 'pipe' });
}

function imageOf(text: string): readonly string[] {
  return podsIn(manifestsIn(text)).flatMap(({ spec }) =>
    containersOf(spec).map(({ image }) => image),
  );
}

const commands = shellCommandsIn(document);
const ofProgram = (name: string): readonly (readonly string[])[] =>
  commands.filter(([program]) => program === name);

describe.skipIf(helm3.skip)(`the values in the documents${helm3.note}`, () => {
  it('are found, and every block of YAML in docs/kubernetes.md says what it is', () => {
    const kinds = new Set(
      codeBlocksIn(document)
        .filter(({ language }) => language === 'yaml')
        .map(({ text }) => text.split('\n', 1)[0]),
    );

    expect(valuesBlocks.length).toBeGreaterThan(5);
    expect(kinds).toEqual(
      new Set([
        '# Chart.yaml',
        '# Of the scrape configuration',
        '# kustomization.yaml',
        '# kustomization.yaml, of the exporter',
        '# my-values.yaml',
      ]),
    );
  });

  it.each(valuesBlocks)('$path, number $number: can be rendered', ({ values }) => {
    expect(rendered(values)).toContain('kind: ');
  });
});

describe.skipIf(helm3.skip)(`the image in docs/kubernetes.md${helm3.note}`, () => {
  const built = ofProgram('docker')
    .filter(([, command]) => command === 'build')
    .map((words) => words[words.indexOf('--tag') + 1]);

  it('has the name that its values give the chart', () => {
    const block = valuesBlocks.find(({ values }) => values.includes('\nimage:\n'));

    expect(new Set(imageOf(rendered(block?.values ?? '')))).toEqual(new Set([built[0]]));
  });

  it('has the default name of the chart where no values are set', async () => {
    const manifests = await render({ values: ['01-default-values.yaml'] });
    const images = podsIn(manifests).flatMap(({ spec }) => containersOf(spec));

    expect(new Set(images.map(({ image }) => image))).toEqual(new Set([built[1]]));
  });
});

describe.skipIf(helm3.skip)(`the check of a pipeline in docs/kubernetes.md${helm3.note}`, () => {
  let block: string;

  beforeAll(() => {
    const found = codeBlocksIn(document).find(({ text }) =>
      text.includes('check-config check.yaml'),
    );
    block = (found?.text ?? '').replace(/^newrelic-exporter .*\n/mu, '');
  });

  function checked(apps: readonly object[]): string {
    const values = JSON.stringify({ apiKey: { existingSecret: 'a' }, config: { apps } });
    const folder = folderWith({ 'my-values.yaml': values });
    cpSync(chart, join(folder, 'helm/newrelic-exporter'), { recursive: true });
    const script = `helm() { '${helm3.path}' "$@"; }\n${block}`;
    execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, stdio: 'pipe' });
    return readFileSync(join(folder, 'check.yaml'), 'utf8');
  }

  it('makes a configuration of the values, with a key that is there', async () => {
    const text = checked([{ match: '^shop-' }]);

    expect(parse(text)).toEqual({
      accounts: [{ name: 'default', api_key_file: 'check-key' }],
      apps: [{ match: '^shop-' }],
    });
    expect(await messagesOf(text)).toBe('');
  });

  it('finds what Helm cannot see', async () => {
    expect(await messagesOf(checked([{ match: '^shop-(' }]))).toContain('regular expression');
  });
});
