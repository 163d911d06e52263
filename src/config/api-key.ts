import type { KeyLocation } from '../model/config.ts';
import { decodeUtf8, type ReadFile, readFailure, readRemedy } from './read-file.ts';

/** The vendor's keys have 32 to 47 characters: a much longer text is another file. */
const longestKey = 512;

export interface ApiKeyDependencies {
  readonly readFile: ReadFile;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** An API key cannot be read. The message names its location, never its content. */
export class KeyError extends Error {
  override readonly name = 'KeyError';
  readonly location: KeyLocation;

  constructor(location: KeyLocation, message: string) {
    super(message);
    this.location = location;
  }
}

function describeLocation(location: KeyLocation): string {
  return location.kind === 'file'
    ? `the API key file ${location.path}`
    : `the environment variable ${location.name}`;
}

async function readText(location: KeyLocation, dependencies: ApiKeyDependencies): Promise<string> {
  if (location.kind === 'env') {
    const value = dependencies.env[location.name];
    if (value !== undefined) return value;
    throw new KeyError(location, `${describeLocation(location)} is not set: set it to the API key`);
  }
  let bytes: Uint8Array;
  try {
    bytes = await dependencies.readFile(location.path);
  } catch (error) {
    const create = 'create it with the API key as its only content, readable by this user';
    const remedy = readRemedy(error, create);
    throw new KeyError(location, `${describeLocation(location)} ${readFailure(error)}: ${remedy}`);
  }
  const text = decodeUtf8(bytes);
  if (text !== undefined) return text;
  throw new KeyError(
    location,
    `${describeLocation(location)} is not plain text: write the API key into it`,
  );
}

/**
 * Reads an account's API key, without the white space around it. Rejects with a `KeyError` if there is
 * no key, or none that a header can carry.
 */
export async function readApiKey(
  location: KeyLocation,
  dependencies: ApiKeyDependencies,
): Promise<string> {
  const key = (await readText(location, dependencies)).trim();
  const place = describeLocation(location);
  if (key === '') throw new KeyError(location, `${place} is empty: put the API key into it`);
  if (/^["'`]|["'`]$/u.test(key)) {
    throw new KeyError(location, `${place} holds the API key in quotes: remove the quotes`);
  }
  if (key.length > longestKey) {
    throw new KeyError(location, `${place} is too long for an API key: put only the key into it`);
  }
  if (!/^[\u{21}-\u{7e}]+$/u.test(key)) {
    const reason = 'holds white space, control or non-ASCII characters inside the key';
    throw new KeyError(location, `${place} ${reason}: put only the key into it`);
  }
  return key;
}
