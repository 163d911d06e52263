import type { Application } from '../model/application.ts';

/** A name may be of any length; the id identifies the application. */
const longestName = 256;

/** The fields of the log that name an application. */
export function applicationFieldsOf({ id, name }: Pick<Application, 'id' | 'name'>): {
  readonly app_id: string;
  readonly app_name: string;
} {
  return { app_id: id, app_name: name.slice(0, longestName) };
}
