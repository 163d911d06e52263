import type { AccountConfig } from './config.ts';

/**
 * Where the key of an account comes from, and where it goes to, as one text: the vendor counts the calls of
 * accounts with the same text together.
 */
export function keyPlaceOf({ apiKey, baseUrl }: Pick<AccountConfig, 'apiKey' | 'baseUrl'>): string {
  const place = apiKey.kind === 'file' ? `file ${apiKey.path}` : `env ${apiKey.name}`;
  return JSON.stringify([place, baseUrl]);
}
