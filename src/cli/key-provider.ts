import { type ApiKeyDependencies, readApiKey } from '../config/api-key.ts';
import type { KeyLocation } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import type { Redactor } from '../telemetry/redactor.ts';
import type { KeyProvider } from '../transport/key-provider.ts';

export interface KeyProviderOptions {
  readonly account: string;
  readonly location: KeyLocation;
}

export interface KeyProviderDependencies extends ApiKeyDependencies {
  readonly redactor: Redactor;
  readonly logger: Logger;
}

/**
 * Holds one account's key and reads it again on demand. Rejects with a `KeyError` if there is none
 * at the start; later a key that cannot be read leaves the one in force.
 */
export async function createKeyProvider(
  { account, location }: KeyProviderOptions,
  dependencies: KeyProviderDependencies,
): Promise<KeyProvider> {
  const { redactor, logger } = dependencies;
  let current = await readApiKey(location, dependencies);
  redactor.add(current);
  let isUnreadable = false;

  return {
    current: () => current,
    reload: async () => {
      let next: string;
      try {
        next = await readApiKey(location, dependencies);
      } catch (error) {
        if (!isUnreadable) logger.warn({ account, error }, 'API key not readable, keeping the old');
        isUnreadable = true;
        return false;
      }
      isUnreadable = false;
      if (next === current) return false;
      redactor.add(next);
      current = next;
      logger.info({ account }, 'API key changed');
      return true;
    },
  };
}
