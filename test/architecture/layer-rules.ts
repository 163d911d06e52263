import { areaOf, importsOf, resolveImport } from './imports-of.ts';
import type { SourceFile } from './source-files.ts';

/** What `daemon` puts together. */
const daemonParts: readonly string[] = [
  'model',
  'config',
  'newrelic/calls',
  'newrelic',
  'newrelic/rest',
  'newrelic/nerdgraph',
  'poll',
  'publish',
  'web',
  'web/config',
  'web/status',
];

/** Which areas an area may import, beside itself. */
const allowedAreas: Readonly<Record<string, readonly string[]>> = {
  model: [],
  config: ['model'],
  'newrelic/calls': ['model'],
  newrelic: ['model', 'newrelic/calls'],
  'newrelic/rest': ['model', 'newrelic/calls', 'newrelic'],
  'newrelic/nerdgraph': ['model', 'newrelic/calls', 'newrelic'],
  poll: ['model', 'newrelic/calls'],
  publish: ['model'],
  'web/config': ['model', 'config'],
  'web/status': ['model'],
  web: ['model', 'publish', 'web/status'],
  simulator: ['model'],
  daemon: daemonParts,
  // The commands that no daemon needs are only loaded when they are asked for: see storeys.test.ts.
  cli: [...daemonParts, 'daemon', 'tools', 'demo'],
  tools: [...daemonParts, 'daemon', 'cli'],
  demo: [...daemonParts, 'daemon', 'cli', 'simulator'],
  'program.ts': ['cli', 'daemon'],
  'main.ts': ['cli', 'program.ts'],
};

/** Which areas may import a package or a module of Node. One that is not named may come in anywhere. */
const packageAreas: Readonly<Record<string, readonly string[]>> = {
  undici: ['newrelic/calls'],
  'p-limit': ['config', 'web', 'newrelic/rest', 'newrelic/nerdgraph', 'poll', 'daemon'],
  'prom-client': ['publish'],
  negotiator: ['web'],
  bcryptjs: ['daemon'],
  commander: ['cli'],
  pino: ['publish'],
  re2js: ['config'],
  yaml: ['config', 'web/config'],
  graphql: ['simulator'],
  zod: ['config', 'web/config', 'newrelic/nerdgraph', 'tools'],
  'fastest-levenshtein': ['config'],
  'node:http': ['web', 'simulator'],
  'node:https': ['web', 'simulator'],
  'node:http2': [],
  'node:net': ['web', 'simulator'],
  'node:fs': ['daemon', 'config', 'tools'],
};

/** The package of `undici/lib/x` is `undici`, that of `node:fs/promises` is `node:fs`. */
export function packageOf(target: string): string {
  const parts = target.split('/');
  return parts.slice(0, target.startsWith('@') ? 2 : 1).join('/');
}

function importsProblem(path: string, target: string): string | undefined {
  const area = areaOf(path);
  if (target === '<computed>') return 'has an import whose target is computed';
  if (target.startsWith('.')) {
    if (!target.endsWith('.ts')) return `imports ${target} without .ts`;
    const imported = areaOf(resolveImport(path, target));
    if (imported === area || allowedAreas[area]?.includes(imported) === true) return undefined;
    return `imports ${target}: ${area} must not import ${imported}`;
  }
  const name = packageOf(target);
  const areas = packageAreas[name];
  if (areas === undefined) {
    return name.startsWith('node:') ? undefined : `imports ${name}, which no area is given`;
  }
  return areas.includes(area) ? undefined : `imports ${name}: only for ${areas.join(', ')}`;
}

/** Imports against the direction of the layers, and packages outside of their area. */
export function importProblems(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => {
    const area = areaOf(file.path);
    if (!Object.hasOwn(allowedAreas, area)) return [`${file.path} is in an area without a rule`];
    return importsOf(file)
      .map((target) => importsProblem(file.path, target))
      .filter((problem) => problem !== undefined)
      .map((problem) => `${file.path} ${problem}`);
  });
}

/** Files that import each other in a circle, each circle once, as `a -> b -> a`. */
export function cycles(files: readonly SourceFile[]): readonly string[] {
  const imports = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => resolveImport(file.path, target)),
    ]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) found.push([...trail.slice(start), path].join(' -> '));
    if (start !== -1 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

const bannedNames: ReadonlySet<string> = new Set(['index.ts', 'utils.ts', 'util.ts', 'helpers.ts']);
const longestFile = 400;

/** Names that say nothing, files that are too long, and default exports. */
export function fileProblems(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const name = path.split('/').at(-1) ?? path;
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    return [
      ...(bannedNames.has(name) ? [`${path} has a name that says nothing`] : []),
      ...(lines > longestFile ? [`${path} has ${lines} lines, more than ${longestFile}`] : []),
      ...(/^export\s+(?:default\b|\{[^}]*\bas\s+default\b)/m.test(text)
        ? [`${path} has a default export`]
        : []),
    ];
  });
}
