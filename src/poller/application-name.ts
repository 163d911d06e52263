import type { Application } from '../model/application.ts';

/** A name may be of any length; the id tells the rest. */
const longestName = 256;

/** The name as the log shows it. */
export function shortName({ name }: Pick<Application, 'name'>): string {
  return name.slice(0, longestName);
}
