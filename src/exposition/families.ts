import { applicationFamilies } from './application-families.ts';
import type { AppFamily } from './family.ts';
import { pollFamilies } from './poll-families.ts';
import { summaryFamilies } from './summary-families.ts';
import { throughputFamilies } from './throughput-families.ts';

/** Every gauge of an application, in the order of the page. */
export const appFamilies: readonly AppFamily[] = [
  ...throughputFamilies,
  ...applicationFamilies,
  ...summaryFamilies,
  ...pollFamilies,
];

/** The one gauge of an account. */
export const upFamily: Pick<AppFamily, 'name' | 'help'> = {
  name: 'newrelic_up',
  help: "Whether the last discovery of the account's applications succeeded (1) or not (0).",
};
