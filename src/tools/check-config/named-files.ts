import { accountOf } from '../../config/build-config.ts';
import { errorAt, type FileProblem, type Span, warningAt } from '../../config/diagnostic.ts';
import type { InspectedConfig } from '../../config/load-config.ts';
import { type Outside, readOutside } from '../../config/named-file.ts';
import type { FileAccount } from '../../config/schema.ts';
import { mapsUnder, type PlacedMap, textAt } from '../../config/yaml-document.ts';
import type { ToolPlatform } from '../../daemon/platform.ts';
import type { SecretLocation } from '../../model/config.ts';
import { isLicense, keyKinds } from '../../model/key-text.ts';
import { regionOf } from '../../model/region.ts';

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

function doubtsOf(
  key: string,
  { apiKey }: Outside,
  isOfficial: boolean,
  span: Span | undefined,
): readonly FileProblem[] {
  const doubt = keyDoubt(key, isOfficial);
  const place = apiKey?.kind === 'file' ? apiKey.path : apiKey?.name;
  const message = `the API key in ${place} ${doubt?.problem}`;
  return doubt === undefined ? [] : [warningAt(span, message, doubt.help)];
}

/** Everybody may write, or read. */
const worldWritable = 0o002;
const worldReadable = 0o004;

async function modeProblems(
  location: SecretLocation | undefined,
  what: string,
  span: Span | undefined,
  { fileMode, env }: ToolPlatform,
): Promise<readonly FileProblem[]> {
  if (location?.kind !== 'file') return [];
  const { path } = location;
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

const bareAccount: FileAccount = {
  name: '',
  source: 'rest',
  api_key_header: 'Api-Key',
  requests_per_minute: 1,
  timeout: 1,
  labels: {},
};
const keysOfFiles = ['api_key_file', 'proxy_url_file', 'ca_file'];
const keysOfVariables = ['api_key_env', 'proxy_url_env'];

/** What an account of the file names, as far as that has its form. */
function outsideOf(account: PlacedMap, directory: string): Outside {
  const written = [...keysOfFiles, ...keysOfVariables].flatMap((key) => {
    const { text = '' } = textAt(account, key) ?? {};
    const isWhole = keysOfFiles.includes(key) ? text !== '' : /^[A-Za-z_]\w*$/u.test(text);
    return isWhole ? [[key, text] as const] : [];
  });
  const named = accountOf({ ...bareAccount, ...Object.fromEntries(written) }, directory);
  const isKeyNamed = written.some(([key]) => key.startsWith('api_key'));
  return { ...named, apiKey: isKeyNamed ? named.apiKey : undefined };
}

/** Reads all that an account names, and says what is wrong or odd about it. */
async function accountProblems(
  outside: Outside,
  isOfficial: boolean,
  spanOf: (key: string) => Span | undefined,
  platform: ToolPlatform,
): Promise<readonly FileProblem[]> {
  const { apiKey, proxyUrlFrom } = outside;
  const spans = {
    apiKey: spanOf(`api_key_${apiKey?.kind}`),
    proxyUrlFrom: spanOf(`proxy_url_${proxyUrlFrom?.kind}`),
    caFile: spanOf('ca_file'),
  };
  const problems: FileProblem[] = [];
  const { key, proxyUrl } = await readOutside(outside, platform, (what, { reason, remedy }) => {
    problems.push(errorAt(spans[what], reason, remedy));
  });
  return [
    ...problems,
    ...(key === undefined ? [] : doubtsOf(key, outside, isOfficial, spans.apiKey)),
    ...(key === undefined ? [] : await modeProblems(apiKey, 'API key', spans.apiKey, platform)),
    ...(proxyUrl === undefined
      ? []
      : await modeProblems(proxyUrlFrom, 'proxy URL', spans.proxyUrlFrom, platform)),
  ];
}

/**
 * Reads everything that the accounts of a file name, whether the file has errors or not, and says what is
 * wrong or odd about it.
 *
 * @param directory absolute; relative paths in the file are resolved against it
 */
export async function namedFileProblems(
  { written, at }: InspectedConfig,
  directory: string,
  platform: ToolPlatform,
): Promise<readonly FileProblem[]> {
  if (written === undefined) return [];
  const usual = { map: { api_key_env: 'NEW_RELIC_API_KEY' }, path: [] };
  const isUsual = !Object.hasOwn(written, 'accounts');
  const accounts = isUsual ? [usual] : mapsUnder(written, 'accounts');
  const problems = accounts.map(async (account) => {
    const { path } = account;
    const address = textAt(account, 'base_url')?.text;
    const isOfficial = address === undefined || regionOf(address) !== undefined;
    const spanOf = (key: string): Span | undefined => at(...path, key);
    return accountProblems(outsideOf(account, directory), isOfficial, spanOf, platform);
  });
  return (await Promise.all(problems)).flat();
}

/** Why New Relic refuses a key for reading, as a predicate; `undefined` if its kind does not tell. */
function refusalOf(key: string): string | undefined {
  const begins = keyKinds.find(({ prefix }) => key.toUpperCase().startsWith(`${prefix}-`));
  if (begins !== undefined) return begins.refusal;
  return /NRAL$|^(?:eu01xx)?[0-9a-f]{34,40}$/iu.test(key) ? isLicense : undefined;
}
