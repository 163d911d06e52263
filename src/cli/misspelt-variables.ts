import { didYouMean } from '../config/suggestion.ts';
import { flagTable } from './flag-table.ts';
import { type Environment, environmentVariableOf, type Flag } from './flags.ts';

const prefix = 'NEWRELIC_EXPORTER_';

/** Kubernetes sets these beside a service whose name begins with newrelic-exporter. */
const ofService = /_(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)?)$/u;

const flags: readonly Flag<unknown>[] = Object.values(flagTable);
const known: ReadonlySet<string> = new Set(flags.map(environmentVariableOf));

/** An environment variable that looks like one of a flag, and what may be meant. */
export interface MisspeltVariable {
  readonly name: string;
  /** Such as: did you mean "NEWRELIC_EXPORTER_LOG_LEVEL"? */
  readonly help: string;
}

/**
 * The variables that no flag has but that are near to one. Others may be anything, such as the API key of
 * an account.
 */
export function misspeltVariables(env: Environment): readonly MisspeltVariable[] {
  const candidates = [...known].map((name) => name.slice(prefix.length));
  return Object.keys(env).flatMap((name) => {
    const upper = name.toUpperCase();
    const isOurs = upper.startsWith(prefix) && !known.has(name) && !ofService.test(name);
    if (!isOurs) return [];
    if (known.has(upper)) return [{ name, help: `did you mean "${upper}"?` }];
    const near = didYouMean(upper.slice(prefix.length), candidates);
    return near === undefined ? [] : [{ name, help: near.replace('"', `"${prefix}`) }];
  });
}
