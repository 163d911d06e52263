import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectFolder, readDocument } from '../docs/documents.ts';
import { goToolOrSkip } from '../support/go-tool.ts';
import { toolOrSkip } from '../support/tools.ts';

const composeSpec = goToolOrSkip('compose-spec');
const promtool = toolOrSkip('promtool');
const folder = join(projectFolder, 'examples');
const file = 'compose.yaml';
const demo = 'compose-demo.yaml';

type Mount = string | { readonly source: string; readonly target: string };

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly command?: readonly string[];
        readonly image?: string;
        readonly user?: string;
        readonly volumes?: readonly Mount[];
      }
    >
  >;
}

const compose = parse(readFileSync(join(folder, file), 'utf8')) as Compose;

/** As Compose reads it, with what one file takes from the other. */
function resolved(name: string): Compose {
  const args = ['-format', 'json', name];
  return JSON.parse(
    execFileSync(composeSpec.path, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }),
  ) as Compose;
}

/** What is mounted from the project, and where to. */
function mountsOf(service: string): readonly (readonly [source: string, target: string])[] {
  return (compose.services[service]?.volumes ?? [])
    .map((volume) => (typeof volume === 'string' ? volume.split(':') : []))
    .filter(([source = '']) => source.startsWith('.'))
    .map(([source = '', target = '']) => [join(folder, source), target] as const);
}

describe('the example for Compose', () => {
  it.skipIf(composeSpec.skip).each([file, demo])(
    `is a Compose file: %s${composeSpec.note}`,
    (name) => {
      expect(Object.keys(resolved(name).services).toSorted()).toStrictEqual([
        'exporter',
        'grafana',
        'prometheus',
      ]);
    },
  );

  it.skipIf(composeSpec.skip)(`differs from the demo by its exporter${composeSpec.note}`, () => {
    const { exporter, ...others } = resolved(file).services;
    const { exporter: shown, ...same } = resolved(demo).services;

    expect(same).toStrictEqual(others);
    expect(shown?.command).toStrictEqual(['demo']);
    expect(shown?.volumes).toBeUndefined();
    expect(exporter?.command ?? null).toBeNull();
  });

  it.each(['docs/getting-started.md', 'README.md'])(
    'reads the folder that the quick start of %s has filled, as its owner',
    (path) => {
      const exporter = compose.services['exporter'];
      const [mount] = exporter?.volumes ?? [];
      const own = '${HOME}/.config/newrelic-exporter';

      expect(mount).toMatchObject({
        source: `\${CONFIG_FOLDER:-${own}}`,
        target: '/etc/newrelic-exporter',
        read_only: true,
      });
      expect(exporter?.user).toBe('${UID:-1000}');
      expect(readDocument(path).text).toContain(`${own.replace('${HOME}', '~')}/newrelic.key`);
      expect(readDocument(path).text).toContain(`${own.replace('${HOME}', '~')}/config.yaml`);
    },
  );

  it('mounts what exists and names its images by version', () => {
    const sources = Object.keys(compose.services).flatMap(mountsOf);
    const images = Object.values(compose.services).flatMap(({ image }) => image ?? []);

    expect(sources.length).toBeGreaterThan(3);
    expect(sources.filter(([source]) => !existsSync(source))).toStrictEqual([]);
    expect(images.filter((image) => !/:v?\d+\.\d+\.\d+$/u.test(image))).toStrictEqual([]);
  });

  it.skipIf(promtool.skip)(`gives Prometheus a valid configuration${promtool.note}`, async () => {
    const root = await mkdtemp(join(tmpdir(), 'newrelic-exporter-compose-'));
    try {
      for (const [source, target] of mountsOf('prometheus')) {
        await mkdir(dirname(join(root, target)), { recursive: true });
        await cp(source, join(root, target), { recursive: true });
      }

      const output = execFileSync(
        promtool.path,
        ['check', 'config', join(root, 'etc/prometheus/prometheus.yml')],
        { encoding: 'utf8' },
      );

      expect(output).toContain('3 rule files found');
    } finally {
      await rm(root, { recursive: true });
    }
  });

  it('gives Grafana a data source and a folder with all dashboards', () => {
    const mounts = mountsOf('grafana');
    const folderOf = (target: string): string =>
      mounts.find(([, mounted]) => mounted === target)?.[0] ?? '';
    const provisioning = folderOf('/etc/grafana/provisioning');
    const read = (path: string): unknown => parse(readFileSync(join(provisioning, path), 'utf8'));

    const { providers } = read('dashboards/newrelic-exporter.yaml') as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    const path = providers[0]?.options.path ?? '';
    const dashboards = ['overview', 'application', 'exporter'];
    expect(
      dashboards.filter((name) => !existsSync(join(folderOf(path), `${name}.json`))),
    ).toStrictEqual([]);
    expect(read('datasources/prometheus.yaml')).toMatchObject({
      datasources: [{ type: 'prometheus', url: 'http://prometheus:9090', isDefault: true }],
    });
  });
});
