import { importsOf } from '../architecture/imports-of.ts';
import { packageOf } from '../architecture/layer-rules.ts';
import { readSourceFiles } from '../architecture/source-files.ts';

/** The names of the packages that the program imports, which the bundle therefore holds. */
export function importedPackages(): readonly string[] {
  const names = readSourceFiles()
    .flatMap((file) => importsOf(file))
    .filter((target) => !target.startsWith('.') && !target.startsWith('node:'))
    .map(packageOf);
  return [...new Set(names)].toSorted();
}
