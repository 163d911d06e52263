import { UsageError } from './usage-error.ts';

/** Such as `--api-key` or `--newrelic.license-key-file`. */
const keyFlag = /^--?(?:new-?relic[._-]?)?(?:api|user|license|ingest|insert)[._-]?key/i;
const keyValue = /^(?:--?[^=]*=|-+)?\s*NRAK-/i;

/** Throws a `UsageError`, which does not repeat it, if one of the arguments is a key or names one. */
export function refuseKeys(argv: readonly string[]): void {
  if (!argv.some((argument) => keyFlag.test(argument) || keyValue.test(argument))) return;
  throw new UsageError(
    'an API key is not taken from the command line, where every user of this machine can read it: ' +
      'name its file in the configuration (api_key_file), or set the environment variable ' +
      'NEW_RELIC_API_KEY',
  );
}

/** The text in quotes, on one line, without anything that looks like a key. */
export function quote(text: string): string {
  return JSON.stringify(text.replace(/NRAK-\S*/gi, '[redacted]'));
}
