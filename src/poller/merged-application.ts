import type { Application, ApplicationSummary } from '../model/application.ts';

/**
 * The application as it was found now, made of known parts where they are the same: who compares by
 * identity sees what has changed, and the long lists are not kept twice.
 */
export function mergedApplication(known: Application, found: Application): Application {
  const merged = {
    ...found,
    summary: isSameSummary(known.summary, found.summary) ? known.summary : found.summary,
    hostIds: sameOrFound(known.hostIds, found.hostIds),
    instanceIds: sameOrFound(known.instanceIds, found.instanceIds),
  };
  return hasSameMembers(known, merged) ? known : merged;
}

function isSameSummary(
  known: ApplicationSummary | undefined,
  found: ApplicationSummary | undefined,
): boolean {
  return known !== undefined && found !== undefined && hasSameMembers(known, found);
}

/** Of thousands of applications in every discovery: a comparison of any two objects is much slower. */
function hasSameMembers<Value extends object>(left: Value, right: Value): boolean {
  return Object.keys(right).every((key) =>
    Object.is(Reflect.get(left, key), Reflect.get(right, key)),
  );
}

function sameOrFound(
  known: readonly string[] | undefined,
  found: readonly string[] | undefined,
): readonly string[] | undefined {
  if (known === undefined || found === undefined || known.length !== found.length) return found;
  return found.every((id, index) => id === known[index]) ? known : found;
}
