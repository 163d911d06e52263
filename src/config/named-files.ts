import { resolve } from 'node:path';
import type { KeyLocation } from '../model/config.ts';
import { type ApiKeyDependencies, KeyError, readApiKey } from './api-key.ts';
import { CaFileError, readCaFile } from './ca-file.ts';
import { errorAt, type Problem, warningAt } from './diagnostic.ts';
import { keyDoubt } from './key-kind.ts';
import {
  type Located,
  type LocatedMap,
  locate,
  mapsUnder,
  type Span,
  textEntry,
} from './located.ts';
import { isOfficialAddress } from './official-address.ts';

/** Something outside the configuration file that an account needs, and where the file names it. */
export type NamedFile =
  | {
      readonly kind: 'key';
      readonly location: KeyLocation;
      /** Whether the key is for New Relic's own address. */
      readonly isOfficial: boolean;
      readonly span: Span | undefined;
    }
  | { readonly kind: 'ca'; readonly path: string; readonly span: Span };

export interface NamedFileDependencies extends ApiKeyDependencies {
  /** The permissions of a file, such as 0o640; `undefined` if they are not known. */
  readonly fileMode: (path: string) => Promise<number | undefined>;
}

function keyOf(account: LocatedMap, directory: string): readonly NamedFile[] {
  const file = textEntry(account, 'api_key_file');
  const variable = textEntry(account, 'api_key_env');
  const isOfficial = isOfficialAddress(textEntry(account, 'base_url')?.text);
  if (file !== undefined && file.text !== '') {
    const location = { kind: 'file', path: resolve(directory, file.text) } as const;
    return [{ kind: 'key', location, isOfficial, span: file.span }];
  }
  if (variable === undefined || !/^[A-Za-z_][A-Za-z0-9_]*$/u.test(variable.text)) return [];
  const location = { kind: 'env', name: variable.text } as const;
  return [{ kind: 'key', location, isOfficial, span: variable.span }];
}

function caOf(account: LocatedMap, directory: string): readonly NamedFile[] {
  const file = textEntry(account, 'ca_file');
  if (file === undefined || file.text === '') return [];
  return [{ kind: 'ca', path: resolve(directory, file.text), span: file.span }];
}

/** What the accounts of a file name, whether the file has errors or not. */
export function namedFiles(root: Located, directory: string): readonly NamedFile[] {
  if (locate(root, ['accounts']) === undefined) {
    const location = { kind: 'env', name: 'NEW_RELIC_API_KEY' } as const;
    return [{ kind: 'key', location, isOfficial: true, span: undefined }];
  }
  return mapsUnder(root, 'accounts').flatMap((account) => [
    ...keyOf(account, directory),
    ...caOf(account, directory),
  ]);
}

/** Everybody may write, or read. */
const worldWritable = 0o002;
const worldReadable = 0o004;

async function modeProblems(
  path: string,
  span: Span | undefined,
  { fileMode, env }: NamedFileDependencies,
): Promise<readonly Problem[]> {
  const mode = await fileMode(path);
  if (mode === undefined) return [];
  const help = `chmod ${(mode & 0o770).toString(8).padStart(3, '0')} ${path}`;
  if ((mode & worldWritable) !== 0) {
    const message = `every user of this machine can write the API key file ${path}`;
    return [warningAt(span, message, help)];
  }
  // The files of a Secret in a pod, and secrets of Docker, can be read by every user of the container.
  const isInContainer =
    env['KUBERNETES_SERVICE_HOST'] !== undefined || /^\/(?:var\/)?run\//u.test(path);
  if ((mode & worldReadable) === 0 || isInContainer) return [];
  const message = `every user of this machine can read the API key file ${path}`;
  return [warningAt(span, message, help)];
}

async function problemsWith(
  file: NamedFile,
  dependencies: NamedFileDependencies,
): Promise<readonly Problem[]> {
  const { span } = file;
  try {
    if (file.kind === 'ca') {
      await readCaFile(file.path, dependencies);
      return [];
    }
    const { location, isOfficial } = file;
    const doubt = keyDoubt(await readApiKey(location, dependencies), isOfficial);
    const place = location.kind === 'file' ? location.path : location.name;
    const message = `the API key in ${place} ${doubt?.problem}`;
    return [
      ...(doubt === undefined ? [] : [warningAt(span, message, doubt.help)]),
      ...(location.kind === 'file' ? await modeProblems(location.path, span, dependencies) : []),
    ];
  } catch (error) {
    if (!(error instanceof KeyError) && !(error instanceof CaFileError)) throw error;
    return [errorAt(span, error.reason, error.remedy)];
  }
}

/** Reads everything that a configuration names, and says what is wrong or odd about it. */
export async function namedFileProblems(
  files: readonly NamedFile[],
  dependencies: NamedFileDependencies,
): Promise<readonly Problem[]> {
  const problems = await Promise.all(files.map(async (file) => problemsWith(file, dependencies)));
  return problems.flat();
}
