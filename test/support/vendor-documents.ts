/**
 * Documents of the vendor as text, so that a value can be replaced by whatever a test needs: `1e999`,
 * an id too long for a number, two members with the same name.
 */

/** An application of a list. Each member is JSON text. */
export interface ApplicationText {
  readonly id: string;
  readonly name: string;
  /** The text between the brackets of its list of hosts. Without it there are no links. */
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
 * A metric data document with one metric. `values` is JSON text, usually an object. `range` holds the
 * members that state the window, such as `"to":"2026-09-01T10:05:00+00:00"`.
 */
export function metricDataText(values: string, name = 'HttpDispatcher', range = ''): string {
  const slice = `{${range === '' ? '' : `${range},`}"values":${values}}`;
  return `{"metric_data":{"metrics_not_found":[],"metrics_found":["${name}"],"metrics":[{"name":"${name}","timeslices":[${slice}]}]}}`;
}

/** Arrays nested this deep. */
export function nestedText(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}
