import type { JsonObject } from './json.ts';

/** A reference that Grafana fills in. */
function filledIn(name: string): string {
  return `$\{${name}}`;
}

/** A link from what shows one application to its dashboard. */
export function toApplication(source: 'series' | 'table row'): JsonObject {
  const app = source === 'series' ? '__field.labels.app_name' : '__data.fields["Application"]';
  const url = [
    `/d/newrelic-application?${filledIn('__url_time_range')}`,
    filledIn('datasource:queryparam'),
    filledIn('cluster:queryparam'),
    filledIn('account:queryparam'),
    `var-app=${filledIn(app)}`,
  ].join('&');
  return { title: 'Show the application', url, targetBlank: false };
}
