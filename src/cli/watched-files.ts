import { digestOf } from '../config/read-file.ts';
import type { Config } from '../model/config.ts';
import type { Machine } from './machine.ts';

/** The files that a configuration rests on, by path, with the digest of what each of them held. */
export type WatchedFiles = ReadonlyMap<string, string>;

/**
 * The configuration file as it was read, and the CA bundles that it names. To be asked before these
 * are put into force: then a bundle that changes in between is a change, not what is in force. Keys
 * are not among them: they are read again without a reload.
 */
export async function watchedFilesOf(
  file: { readonly path: string; readonly digest: string },
  { accounts, apps }: Config,
  { readFile }: Pick<Machine, 'readFile'>,
): Promise<WatchedFiles> {
  const used = new Set(apps.map(({ account }) => account));
  const caFiles = accounts
    .filter(({ name }) => used.has(name))
    .map(({ caFile }) => caFile)
    .filter((path) => path !== undefined);
  const digests = await Promise.all(
    [...new Set(caFiles)].map(async (path): Promise<[string, string]> => {
      // Whoever needs a bundle that cannot be read says so.
      const bytes = await readFile(path).catch(() => undefined);
      return [path, bytes === undefined ? '' : digestOf(bytes)];
    }),
  );
  return new Map([[file.path, file.digest], ...digests]);
}
