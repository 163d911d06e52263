import { posix } from 'node:path';
import type { SourceFile } from './source-files.ts';

const statement =
  /^[ \t]*(?:import|export)\b(?:[^'"`;()]*?\bfrom)?\s*(?:'(?<single>[^'\n]+)'|"(?<double>[^"\n]+)")/gm;
const call = /\b(?:import|require)\s*\(\s*(?<argument>'[^'\n]+'|"[^"\n]+"|`[^`$\n]+`|[^)]*)/g;

/**
 * Everything that the file imports, exactly as written: static, `import type`, `export from`,
 * dynamic and as a type. An import whose target is computed counts as `<computed>`.
 */
export function importsOf({ text }: Pick<SourceFile, 'text'>): readonly string[] {
  const code = withoutComments(text);
  const statements = [...code.matchAll(statement)].map(
    ({ groups }) => groups?.['single'] ?? groups?.['double'] ?? '<computed>',
  );
  const calls = [...code.matchAll(call)].map(({ groups }) => literal(groups?.['argument'] ?? ''));
  return [...statements, ...calls];
}

function literal(argument: string): string {
  return /^(['"`])(?<target>[^$]+)\1$/.exec(argument)?.groups?.['target'] ?? '<computed>';
}

/** Comments that fill their lines: those behind code do not begin with an import. */
function withoutComments(text: string): string {
  return text.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, '').replaceAll(/^[ \t]*\/\/.*$/gm, '');
}

/** The file, relative to `src`, that a relative import means. */
export function resolveImport(from: string, target: string): string {
  return posix.join(posix.dirname(from), target);
}

/** The folder of `src` that the file is in, or of `src/newrelic` or `src/web`; a file directly in `src` stands for itself. */
export function areaOf(path: string): string {
  return /^(?:(?:newrelic|web)\/)?[^/]+(?=\/)/u.exec(path)?.[0] ?? path;
}
