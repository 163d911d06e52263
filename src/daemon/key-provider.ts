import { readApiKey } from '../config/api-key.ts';
import { nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig } from '../model/config.ts';
import { noted, type Since } from '../model/since.ts';
import type { KeyStatus } from '../model/status.ts';
import type { Logger } from '../model/telemetry.ts';
import type { KeyProvider } from '../newrelic/calls/transport.ts';
import type { AccountPlatform } from './platform.ts';

/** The key of an account, and what is known about it. */
export interface AccountKey extends KeyProvider {
  status(): KeyStatus;
  /** Whether it cannot be read. */
  readability(): Since<boolean>;
}

/** Calls that left with a replaced key may still fail, and name it, for some minutes. */
const rememberedMs = 60 * 60_000;

/**
 * Holds one account's key and reads it again on demand. Rejects with a `NamedFileError` if the first key
 * cannot be read; if a later one cannot, the key before stays.
 */
export async function createKeyProvider(
  { name: account, apiKey: location }: Pick<AccountConfig, 'name' | 'apiKey'>,
  platform: AccountPlatform,
  logger: Logger,
): Promise<AccountKey> {
  const { clock, redactor } = platform;
  let current = await readApiKey(location, platform);
  redactor.add(current);
  let readMs = clock.monotonicMs();
  let isUnreadable: Since<boolean> = { value: false, sinceMs: readMs };
  let problem: string | undefined;
  let replaced: readonly { readonly key: string; readonly untilMs: number }[] = [];

  /** Without a timer: keys are rarely replaced, so few are remembered for longer. */
  const replaceBy = (next: string): void => {
    const nowMs = clock.monotonicMs();
    const before = [...replaced, { key: current, untilMs: nowMs + rememberedMs }];
    replaced = before.filter(({ untilMs }) => nowMs < untilMs);
    for (const { key, untilMs } of before) if (nowMs >= untilMs) redactor.forget(key);
    redactor.add(next);
    current = next;
    readMs = nowMs;
  };

  const found = (next: string | undefined): void => {
    isUnreadable = noted(isUnreadable, next !== undefined, clock.monotonicMs());
    problem = next;
  };

  return {
    current: () => current,
    reload: async () => {
      let next: string;
      try {
        next = await readApiKey(location, platform);
      } catch (error) {
        if (problem === undefined) {
          logger.warn({ account, error }, 'API key not readable, keeping the old');
        }
        found(error instanceof Error ? error.message : String(error));
        return false;
      }
      found(undefined);
      if (next === current) return false;
      replaceBy(next);
      logger.info({ account }, 'API key changed');
      return true;
    },
    status: () => {
      const toWall = wallTimeOf(nowOf(clock));
      return {
        location:
          location.kind === 'file'
            ? `file ${location.path}`
            : `environment variable ${location.name}`,
        problem,
        sinceMs: toWall(isUnreadable.sinceMs ?? readMs),
        readMs: toWall(readMs),
      };
    },
    readability: () => isUnreadable,
  };
}
