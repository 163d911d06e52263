import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goToolOrSkip } from '../support/go-tool.ts';
import { kubectlValidate, schemaReport } from './api-schemas.ts';
import { example } from './autoscalers.ts';
import { helm4, type RenderOptions, renderText, valuesFiles } from './chart.ts';
import { kubectl, kustomized } from './kustomize.ts';

const run = promisify(execFile);
const kubeScore = goToolOrSkip('kube-score');

/** Those that the tool has within itself, from the oldest that the chart runs on. */
const schemaVersions = ['1.25', '1.27', '1.29', '1.30'];

/** What kube-score asks for, and why the chart does not do it. */
const notAsked = {
  // Recreate: two pods must not spend the budget of one key at the same time.
  'deployment-strategy': 'the default',
  // One pod is enough, and several need shards; a disruption budget would block draining its node.
  'deployment-replicas': 'the default',
  'deployment-has-poddisruptionbudget': 'the default',
  // topologySpreadConstraints are there for it.
  'deployment-has-host-podantiaffinity': 'affinity',
  'statefulset-has-host-podantiaffinity': 'affinity',
  // A cluster such as OpenShift gives every namespace its own user ids.
  'container-security-context-user-group-id': 'the image has a numeric user',
  // Nothing is written.
  'container-ephemeral-storage-request-and-limit': 'read-only',
  // Tags are never moved.
  'container-image-pull-policy': 'IfNotPresent',
  // ClusterIP by default.
  'service-type': 'service.type',
  // Off by default, as whom to allow is known to nobody else; the pod of helm test lives for seconds.
  'pod-networkpolicy': 'networkPolicy.enabled',
};

describe.skipIf(helm4.skip || kubectlValidate.skip || kubeScore.skip)(
  `the rendered objects${helm4.note}${kubectlValidate.note}${kubeScore.note}`,
  () => {
    let directory: string;

    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'newrelic-exporter-helm-'));
    });

    afterAll(() => {
      rmSync(directory, { recursive: true });
    });

    const written = async (name: string, options: RenderOptions): Promise<string> => {
      const file = join(directory, name);
      writeFileSync(file, await renderText({ helm: helm4.path, ...options }));
      return file;
    };

    it.each(schemaVersions.map((version) => ({ version })))(
      'are what the API of Kubernetes $version takes, with all sets of values',
      async ({ version }) => {
        const files = await Promise.all(
          valuesFiles.map(async (values) =>
            written(`${version}-${values}`, { values: [values], kubeVersion: `${version}.0` }),
          ),
        );

        const report = await schemaReport(files, version);

        expect(report.match(/OK/gu)).toHaveLength(valuesFiles.length);
        expect(report).not.toMatch(/error/iu);
      },
    );

    it.each(['1.27', '1.30'])(
      'are so as well with what Kubernetes %s has and older versions do not',
      async (version) => {
        const file = await written(`new-${version}.yaml`, {
          values: ['05-shards-static-values.yaml'],
          set: ['pdb.unhealthyPodEvictionPolicy=AlwaysAllow'],
          kubeVersion: `${version}.0`,
        });

        const report = await schemaReport([file], version);

        expect(readFileSync(file, 'utf8')).toContain('unhealthyPodEvictionPolicy: AlwaysAllow');
        expect(report).toContain('OK');
        expect(report).not.toMatch(/error/iu);
      },
    );

    it.skipIf(kubectl.skip)(
      'are so as well with the sidecar and the PodMonitor of Kustomize',
      async () => {
        const overlay = join(directory, 'overlay');
        cpSync(fileURLToPath(new URL('../../deploy/kustomize', import.meta.url)), overlay, {
          recursive: true,
        });
        const kustomization = join(overlay, 'example/kustomization.yaml');
        const text = readFileSync(kustomization, 'utf8');
        writeFileSync(
          kustomization,
          text.replace(/^( +- )\.\.\/component$/mu, '$&\n$1../podmonitor'),
        );
        const rendered = kustomized(join(overlay, 'example'));
        const file = join(directory, 'kustomize.yaml');
        writeFileSync(file, rendered);

        const report = await schemaReport([file], '1.30');

        expect(rendered).toContain('kind: PodMonitor');
        expect(report).toContain('OK');
        expect(report).not.toMatch(/error/iu);
      },
    );

    it.each(['horizontal-pod-autoscaler', 'scaled-object', 'trigger-authentication'])(
      'are so as well with %s.yaml in examples/autoscaling',
      async (name) => {
        const file = join(directory, `${name}.yaml`);
        writeFileSync(file, example(name));

        const report = await schemaReport([file], '1.30');

        expect(report).toContain('OK');
        expect(report).not.toMatch(/error/iu);
      },
    );

    it.each(
      // Beside another application there is no pod to look at, and without any no object.
      valuesFiles
        .filter((values) => !/-(?:sidecar|none)-/u.test(values))
        .map((values) => ({ values })),
    )('$values: have no finding of kube-score', async ({ values }) => {
      // The defaults leave open what only its user knows.
      const set = ['requests.cpu=10m', 'requests.memory=96Mi', 'limits.memory=192Mi'].map(
        (one) => `resources.${one}`,
      );
      const file = await written(`score-${values}`, { values: [values], set });
      const args = [
        'score',
        file,
        '--output-format=ci',
        '--kubernetes-version=v1.30',
        // Throttling would only delay answers to scrapes.
        '--ignore-container-cpu-limit',
        ...Object.keys(notAsked).map((name) => `--ignore-test=${name}`),
      ];

      const { stdout } = await run(kubeScore.path, args).catch(
        (error: unknown) => error as { readonly stdout: string },
      );
      const findings = stdout.split('\n').filter((line) => /^\[(?:CRITICAL|WARNING)\]/u.test(line));

      expect(stdout).toContain('[OK]');
      expect(findings).toEqual([]);
    });
  },
);
