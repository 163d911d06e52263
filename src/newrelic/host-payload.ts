import { z } from 'zod';
import { entityIdOf } from './entity-id.ts';
import type { CallSubject } from './failure-of-answer.ts';
import type { JsonObject } from './json.ts';
import { listElementsOf } from './list-elements.ts';

export interface HostName {
  readonly id: string;
  readonly name: string;
}

const hostSchema = z.object({
  id: z.unknown().transform(entityIdOf).pipe(z.string()),
  host: z.string().min(1),
});

/**
 * The host names of a list document. A host without a readable id or name is passed over: it is
 * shown by its id. Throws an `ApiError` when there is no list of bearable length.
 */
export function hostNamesOf(document: JsonObject, subject: CallSubject): HostName[] {
  return listElementsOf(document, 'application_hosts', subject).flatMap((element) => {
    const host = hostSchema.safeParse(element);
    return host.success ? [{ id: host.data.id, name: host.data.host }] : [];
  });
}
