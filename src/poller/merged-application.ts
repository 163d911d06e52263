import { isDeepStrictEqual } from 'node:util';
import type { Application } from '../model/application.ts';

/**
 * The application as it was found now, made of known parts where they are the same: who compares by
 * identity sees what has changed, and the long lists are not kept twice.
 */
export function mergedApplication(known: Application, found: Application): Application {
  const merged = {
    ...found,
    hostIds: sameOrFound(known.hostIds, found.hostIds),
    instanceIds: sameOrFound(known.instanceIds, found.instanceIds),
  };
  return isDeepStrictEqual(known, merged) ? known : merged;
}

function sameOrFound(
  known: readonly string[] | undefined,
  found: readonly string[] | undefined,
): readonly string[] | undefined {
  if (known === undefined || found === undefined || known.length !== found.length) return found;
  return found.every((id, index) => id === known[index]) ? known : found;
}
