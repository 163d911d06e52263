import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';

/** Names that mean something else in a URL, in PromQL, in a regular expression or to Grafana. */
const oddNames: readonly string[] = [
  'inventory & stock',
  'mail+queue',
  'shop "eu"',
  'back\\slash',
  '100% cotton',
  '$price',
  '${account}',
  '{braces}',
  'red, green',
  'a=b?c#d',
  'Checkout (production)',
  'payments|core',
  '.*',
  "driver's log",
  '<b>bold</b>',
  'Größenberater – Zürich',
  '検索 API',
  'cart 🛒',
];

/** An application for each odd name, with a host that has the name, too. */
export const oddApplications: readonly ApplicationSpec[] = oddNames.map((name, index) => ({
  id: 3001 + index,
  name,
  kind: 'web',
  healthStatus: 'green',
  // The number tells which application a query has found.
  webRpm: 100 * (index + 1),
  hosts: [{ id: 30_011 + index, name: `host of ${name}`, instances: 1 }],
}));
