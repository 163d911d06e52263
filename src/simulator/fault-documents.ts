/**
 * Documents of the vendor as text, so that anything can stand in the place of a value: `1e999`, an
 * id that no number can hold, two members of the same name.
 */

/** An application of a list. Each member is JSON text. */
export interface ApplicationText {
  readonly id: string;
  readonly name: string;
  /** What stands between the brackets of its list of hosts. Without it there are no links. */
  readonly hostIds?: string | undefined;
  /** Further members, such as `"reporting":true`. */
  readonly more?: string | undefined;
}

/** A list of applications. */
export function applicationListText(applications: readonly ApplicationText[]): string {
  const elements = applications.map(({ id, name, hostIds, more }) => {
    const links =
      hostIds === undefined
        ? []
        : [`"links":{"application_hosts":[${hostIds}],"application_instances":[]}`];
    const members = [
      `"id":${id}`,
      `"name":${name}`,
      ...links,
      ...(more === undefined ? [] : [more]),
    ];
    return `{${members.join(',')}}`;
  });
  return `{"applications":[${elements.join(',')}]}`;
}

/**
 * A metric data document with one metric. `values` is JSON text, usually an object; `range` is the
 * members that say for which window it is, such as `"to":"2026-09-01T10:05:00+00:00"`.
 */
export function metricDataText(values: string, name = 'HttpDispatcher', range = ''): string {
  const slice = `{${range === '' ? '' : `${range},`}"values":${values}}`;
  return `{"metric_data":{"metrics_not_found":[],"metrics_found":["${name}"],"metrics":[{"name":"${name}","timeslices":[${slice}]}]}}`;
}

/** An array within an array, so often. */
export function nestedText(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}
