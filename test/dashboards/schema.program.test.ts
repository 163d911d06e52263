import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { projectFolder } from '../docs/documents.ts';
import type { Dashboard, Panel } from './dashboard-files.ts';
import { readDashboards } from './dashboard-files.ts';

const require = createRequire(import.meta.url);
const schemaFolder = dirname(require.resolve('@grafana/schema/package.json'));

/** The types of the options of a kind of panel, as `@grafana/schema` calls their module. */
const kinds: Readonly<Record<string, { readonly folder: string; readonly hasFields: boolean }>> = {
  stat: { folder: 'stat', hasFields: false },
  table: { folder: 'table', hasFields: true },
  timeseries: { folder: 'timeseries', hasFields: true },
};

const beginning = `
import type { AnnotationQuery, Dashboard, VariableModel } from '@grafana/schema';
${Object.values(kinds)
  .map(({ folder }) => `import type * as ${folder} from 'schema/${folder}/panelcfg/x/types.gen';`)
  .join('\n')}
/** A part of it is enough, and the text of an enumeration will do. */
export type Given<T> = T extends string ? \`\${T}\` | T
  : T extends readonly (infer E)[] ? readonly Given<E>[]
  : T extends object ? { readonly [K in keyof T]?: Given<T[K]> | (K extends 'value' ? null : never) }
  : T;
/** With what Grafana's data source for Prometheus has in annotations, and with what the linter asks for. */
export type Whole = Given<Omit<Dashboard, 'annotations' | 'templating'>> & {
  readonly annotations?: { readonly list?: readonly (Given<AnnotationQuery> & {
    readonly expr?: string; readonly step?: string; readonly titleFormat?: string;
    readonly textFormat?: string; readonly tagKeys?: string; readonly useValueForTime?: 'on';
  })[] };
  readonly templating?: {
    readonly list?: readonly (Given<VariableModel> & { readonly definition?: string })[];
  };
};
`;

/** The options of a field of its own kind, as objects: \`custom.width\` is \`{width: …}\`. */
function customOf({ fieldConfig }: Panel): readonly unknown[] {
  const { defaults, overrides } = fieldConfig ?? { defaults: {}, overrides: [] };
  const properties = overrides.flatMap((override) => override.properties);
  return [
    defaults.custom ?? {},
    ...properties
      .filter(({ id }) => id.startsWith('custom.'))
      .map(({ id, value }) => ({ [id.slice('custom.'.length)]: value })),
  ];
}

function statementsOf({ panels, ...dashboard }: Dashboard): readonly string[] {
  const ofPanels = panels.flatMap((panel) => {
    const kind = kinds[panel.type];
    if (kind === undefined) return [];
    const { folder, hasFields } = kind;
    const fields = hasFields
      ? customOf(panel).map((one) => [one, `${folder}.FieldConfig`] as const)
      : [];
    return [[panel.options, `${folder}.Options`] as const, ...fields].map(
      ([value, type]) => `// ${panel.title}\n(${JSON.stringify(value)}) satisfies Given<${type}>;`,
    );
  });
  const { name: _, ...whole } = dashboard as Dashboard & { readonly name?: string };
  return [`(${JSON.stringify(whole)}) satisfies Whole;`, ...ofPanels];
}

/** What TypeScript has against statements about Grafana's types. */
async function complaintsAbout(statements: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-schema-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const types = join(schemaFolder, 'dist/types');
  await writeFile(join(folder, 'dashboards.ts'), `${beginning}\n${statements.join('\n')}\n`);
  const compilerOptions = {
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2023',
    lib: ['es2023'],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    paths: {
      '@grafana/schema': [join(types, 'index.d.ts')],
      'schema/*': [join(types, 'raw/composable/*')],
    },
  };
  const config = JSON.stringify({ compilerOptions, include: ['dashboards.ts'] });
  await writeFile(join(folder, 'tsconfig.json'), config);
  const tsc = join(projectFolder, 'node_modules/.bin/tsc');
  const { stdout, stderr } = spawnSync(tsc, ['-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return `${stdout}${stderr}`;
}

describe('the JSON of the dashboards', () => {
  it.each(readDashboards())('$name has only options that Grafana knows', async (dashboard) => {
    expect(await complaintsAbout(statementsOf(dashboard))).toBe('');
  });

  it.each([
    { statement: "({ colourMode: 'value' }) satisfies Given<stat.Options>;", finds: 'colourMode' },
    { statement: "({ titel: 'Overview' }) satisfies Whole;", finds: 'titel' },
  ])('would be found to differ: $statement', async ({ statement, finds }) => {
    const complaints = await complaintsAbout([statement]);

    expect(complaints === '').toBe(finds === '');
    expect(complaints).toContain(finds);
  });
});
