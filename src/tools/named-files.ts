import { resolve } from 'node:path';
import { errorAt, type Problem, type Span, warningAt } from '../config/diagnostic.ts';
import type { InspectedConfig } from '../config/load-config.ts';
import { NamedFileError, readApiKey, readCaFile, readProxyUrl } from '../config/named-file.ts';
import { mapsUnder, type PlacedMap, textAt } from '../config/yaml-document.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import type { SecretLocation } from '../model/config.ts';
import { isLicense, keyKinds } from '../model/key-text.ts';
import { regionOf } from '../model/region.ts';

/** Something outside the configuration file that an account needs, and where the file names it. */
type NamedFile =
  | {
      readonly kind: 'key' | 'proxy';
      readonly location: SecretLocation;
      /** Whether the account is at New Relic's own address. */
      readonly isOfficial: boolean;
      readonly span: Span | undefined;
    }
  | { readonly kind: 'ca'; readonly path: string; readonly span: Span | undefined };

function secretOf(
  kind: 'key' | 'proxy',
  account: PlacedMap,
  { at }: InspectedConfig,
  directory: string,
): readonly NamedFile[] {
  const prefix = kind === 'key' ? 'api_key' : 'proxy_url';
  const file = textAt(account, `${prefix}_file`);
  const variable = textAt(account, `${prefix}_env`);
  const address = textAt(account, 'base_url')?.text;
  const isOfficial = address === undefined || regionOf(address) !== undefined;
  if (file !== undefined && file.text !== '') {
    const location = { kind: 'file', path: resolve(directory, file.text) } as const;
    return [{ kind, location, isOfficial, span: at(...file.path) }];
  }
  if (variable === undefined || !/^[A-Za-z_][A-Za-z0-9_]*$/u.test(variable.text)) return [];
  const location = { kind: 'env', name: variable.text } as const;
  return [{ kind, location, isOfficial, span: at(...variable.path) }];
}

function caOf(
  account: PlacedMap,
  { at }: InspectedConfig,
  directory: string,
): readonly NamedFile[] {
  const file = textAt(account, 'ca_file');
  if (file === undefined || file.text === '') return [];
  return [{ kind: 'ca', path: resolve(directory, file.text), span: at(...file.path) }];
}

function namedFiles(file: InspectedConfig, directory: string): readonly NamedFile[] {
  const { written } = file;
  if (written === undefined) return [];
  if (!Object.hasOwn(written, 'accounts')) {
    const location = { kind: 'env', name: 'NEW_RELIC_API_KEY' } as const;
    return [{ kind: 'key', location, isOfficial: true, span: undefined }];
  }
  return mapsUnder(written, 'accounts').flatMap((account) => [
    ...secretOf('key', account, file, directory),
    ...secretOf('proxy', account, file, directory),
    ...caOf(account, file, directory),
  ]);
}

/** A user key is the prefix and 27 characters. */
const userKeyPrefix = 'NRAK-';
const userKeyLength = 32;

/** Why a key will probably be refused. Neither text holds any part of the key. */
interface KeyDoubt {
  /** A predicate, such as "is a license key". */
  readonly problem: string;
  readonly help: string;
}

const userKeyHelp =
  'create a key of type "User" in New Relic: user menu, API keys; it begins with NRAK-';

/**
 * Whether a key is of a kind that New Relic refuses. Behind another address than New Relic's own
 * (`isOfficial` is false) a key may have any form, so that only known wrong kinds count.
 */
function keyDoubt(key: string, isOfficial: boolean): KeyDoubt | undefined {
  const refusal = refusalOf(key);
  if (refusal !== undefined) return { problem: refusal, help: userKeyHelp };
  if (!isOfficial) return undefined;
  if (!key.startsWith(userKeyPrefix)) {
    return {
      problem: 'is not a user key of New Relic, which begins with NRAK-',
      help: userKeyHelp,
    };
  }
  if (key.length >= userKeyLength) return undefined;
  const problem = `has ${key.length} characters, but a user key has ${userKeyLength}`;
  return { problem, help: 'copy the whole key' };
}

/** Everybody may write, or read. */
const worldWritable = 0o002;
const worldReadable = 0o004;

async function modeProblems(
  path: string,
  what: string,
  span: Span | undefined,
  { fileMode, env }: ToolPlatform,
): Promise<readonly Problem[]> {
  const mode = await fileMode(path);
  if (mode === undefined) return [];
  const help = `chmod ${(mode & 0o770).toString(8).padStart(3, '0')} ${path}`;
  if ((mode & worldWritable) !== 0) {
    const message = `every user of this machine can write the ${what} file ${path}`;
    return [warningAt(span, message, help)];
  }
  // The files of a Secret in a pod, and secrets of Docker, can be read by every user of the container.
  const isInContainer =
    env['KUBERNETES_SERVICE_HOST'] !== undefined || /^\/(?:var\/)?run\//u.test(path);
  if ((mode & worldReadable) === 0 || isInContainer) return [];
  const message = `every user of this machine can read the ${what} file ${path}`;
  return [warningAt(span, message, help)];
}

async function secretProblems(
  { kind, location, isOfficial, span }: Exclude<NamedFile, { kind: 'ca' }>,
  platform: ToolPlatform,
): Promise<readonly Problem[]> {
  if (kind === 'proxy') {
    await readProxyUrl(location, platform);
    return [];
  }
  const doubt = keyDoubt(await readApiKey(location, platform), isOfficial);
  const place = location.kind === 'file' ? location.path : location.name;
  const message = `the API key in ${place} ${doubt?.problem}`;
  return doubt === undefined ? [] : [warningAt(span, message, doubt.help)];
}

async function problemsWith(file: NamedFile, platform: ToolPlatform): Promise<readonly Problem[]> {
  const { span } = file;
  try {
    if (file.kind === 'ca') {
      await readCaFile(file.path, platform);
      return [];
    }
    const { location } = file;
    const isKey = file.kind === 'key';
    return [
      ...(await secretProblems(file, platform)),
      ...(location.kind === 'file'
        ? await modeProblems(location.path, isKey ? 'API key' : 'proxy URL', span, platform)
        : []),
    ];
  } catch (error) {
    if (!(error instanceof NamedFileError)) throw error;
    return [errorAt(span, error.reason, error.remedy)];
  }
}

/**
 * Reads everything that the accounts of a file name, whether the file has errors or not, and says what is
 * wrong or odd about it.
 *
 * @param directory absolute; relative paths in the file are resolved against it
 */
export async function namedFileProblems(
  file: InspectedConfig,
  directory: string,
  platform: ToolPlatform,
): Promise<readonly Problem[]> {
  const files = namedFiles(file, directory);
  const problems = await Promise.all(files.map(async (one) => problemsWith(one, platform)));
  return problems.flat();
}

/** Why New Relic refuses a key for reading, as a predicate; `undefined` if its kind does not tell. */
function refusalOf(key: string): string | undefined {
  const begins = keyKinds.find(({ prefix }) => key.toUpperCase().startsWith(`${prefix}-`));
  if (begins !== undefined) return begins.refusal;
  return /NRAL$|^(?:eu01xx)?[0-9a-f]{34,40}$/iu.test(key) ? isLicense : undefined;
}
