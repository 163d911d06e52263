import type { FailureReason } from '../../src/model/api-error.ts';
import type { AccountSource } from '../../src/model/config.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import { metricDataText, nestedText } from '../support/vendor-documents.ts';

/** A fault and what must become of it, whatever was asked for. */
export interface BadAnswer {
  readonly what: string;
  readonly fault: Fault;
  readonly reason: FailureReason;
  /** Whether it may pass by itself, so that asking once more is worth a call. */
  readonly isRetried: boolean;
}

function bad(what: string, fault: Fault, reason: FailureReason, isRetried = false): BadAnswer {
  return { what, fault, reason, isRetried };
}

// What a cache on the way gives that does not look at the query.
const twoHoursOld = metricDataText(
  '{"requests_per_minute":4242}',
  'HttpDispatcher',
  '"from":"2026-09-01T07:50:00+00:00","to":"2026-09-01T07:55:00+00:00"',
);

const document = (body: string): Fault => ({ kind: 'document', body });

/** Answers whose status says what they are, and none at all. */
export const badStatuses: readonly BadAnswer[] = [
  bad('a redirect', { kind: 'redirect', location: 'http://other.invalid/' }, 'redirect'),
  bad('422', { kind: 'status', status: 422 }, 'client'),
  bad('500', { kind: 'status', status: 500 }, 'server', true),
  bad(
    '502 with a page',
    { kind: 'status', status: 502, body: '<p>\u001B[31m</p>' },
    'server',
    true,
  ),
  bad('silence', { kind: 'silence' }, 'timeout', true),
];

/** Bodies under 200 that are no document of any API. */
const badBodies: readonly BadAnswer[] = [
  bad('the login page of a proxy', { kind: 'html' }, 'not_json'),
  bad('cut JSON', { kind: 'truncated_json' }, 'not_json'),
  bad('NaN in JSON', document('{"metric_data":NaN,"applications":NaN,"data":NaN}'), 'not_json'),
  bad('an array', document('[]'), 'schema'),
  bad('an empty object', document('{}'), 'schema'),
  bad('100,000 arrays in each other', document(nestedText(100_000)), 'schema'),
];

const badRestDocuments: readonly BadAnswer[] = [
  bad('an error in a 200', { kind: 'error_object' }, 'server'),
  bad('wrong types', document('{"metric_data":{"metrics":{}},"applications":{}}'), 'schema'),
  bad('the data of another window', document(twoHoursOld), 'schema'),
];

function graphqlText(nrql: string, results: string): string {
  return `{"data":{"actor":{"account":{"nrql":${nrql}},"entitySearch":{"results":${results}}}}}`;
}

const badGraphqlDocuments: readonly BadAnswer[] = [
  bad('an error of REST', { kind: 'error_object' }, 'schema'),
  bad('data that is null', document('{"data":null}'), 'schema'),
  bad('nothing in the data', document(graphqlText('null', 'null')), 'schema'),
  bad('wrong types', document(graphqlText('{"results":{}}', '{"entities":{}}')), 'schema'),
  bad('null without an error', { kind: 'null_nrql' }, 'schema'),
];

/** Answers with 200 whose document is none of this API. */
export function badDocumentsOf({ kind }: AccountSource): readonly BadAnswer[] {
  return [...badBodies, ...(kind === 'rest' ? badRestDocuments : badGraphqlDocuments)];
}
