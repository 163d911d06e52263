import type { NrqlReader } from './nrql-reader.ts';

/** The attribute that holds the data of a metric. */
export const timesliceValue = 'newrelic.timeslice.value';

/** Those that say whose data it is: a query names one of them. */
export const dataSources: readonly string[] = ['appId', 'appName', 'entity.guid'];

/** Of timeslices, as documented. Many are null here. */
const attributes: ReadonlySet<string> = new Set([
  ...dataSources,
  timesliceValue,
  'host',
  'host.bootId',
  'host.displayName',
  'instanceName',
  'metricTimesliceName',
  'realAgentId',
  'scope',
]);

/** An attribute that data can have. The vendor would take any other for one that is null. */
export function nrqlAttribute(reader: NrqlReader): string {
  const call = reader.callAhead();
  if (call !== undefined) throw reader.unknown(`the function ${call} here`);
  const { text } = reader.peek();
  if (reader.isName() && !reader.isOfEvents && !attributes.has(text)) {
    throw reader.unknown(`the attribute ${text} of timeslices`);
  }
  return reader.attribute();
}
