import { z } from 'zod';
import { entityIdOf } from './entity-id.ts';
import { type CallSubject, failureOf } from './failure-of-answer.ts';
import type { JsonObject } from './json.ts';

export interface HostName {
  readonly id: string;
  readonly name: string;
}

const hostSchema = z.object({
  id: z.unknown().transform(entityIdOf).pipe(z.string()),
  host: z.string().min(1),
});

const listSchema = z.object({ application_hosts: z.array(z.unknown()) });

/**
 * The host names of a list document. A host without a readable id or name is passed over: it is
 * shown by its id. Throws an `ApiError` when there is no list at all.
 */
export function hostNamesOf(document: JsonObject, subject: CallSubject): HostName[] {
  const list = listSchema.safeParse(document);
  if (!list.success) throw failureOf(subject, 'schema', 'the answer has no application_hosts');
  return list.data.application_hosts.flatMap((element) => {
    const host = hostSchema.safeParse(element);
    return host.success ? [{ id: host.data.id, name: host.data.host }] : [];
  });
}
