import type { ApplicationStatus, StatusSource } from '../../../src/model/status.ts';
import { applicationPage } from '../../../src/web/status/application-page.ts';
import { applicationHref } from '../../../src/web/status/applications.ts';
import { statusPage } from '../../../src/web/status/status-page.ts';
import { tagsOf } from '../../support/html-parts.ts';
import { anApplicationStatus, aStatusSource } from '../../support/status-source.ts';

/** The status page, as it is asked for with a query. */
export function statusPageOf(source: StatusSource, query: string | URLSearchParams = ''): string {
  return statusPage(source, new URLSearchParams(query), { telemetryPath: '/metrics' });
}

/** The page of the application, as a link to it leads to. */
export function applicationPageOf(application: ApplicationStatus, query = ''): string {
  const source = aStatusSource({ applications: [anApplicationStatus({ id: '7' }), application] });
  const [, own] = applicationHref(application.account, application.id).split('?');
  const params = new URLSearchParams(`${own}&${query}`);
  return applicationPage(source, params, { telemetryPath: '/metrics' }) ?? 'no such application';
}

/** The keys of the rows of the lists on a page. */
export function rowsOn(page: string): readonly string[] {
  return tagsOf(page).flatMap(({ name, attributes }) =>
    name === 'tbody' && attributes['data-key'] !== undefined ? [attributes['data-key']] : [],
  );
}

/** The names of the applications that a page leads to. */
export function namesOn(page: string): readonly string[] {
  return [...page.matchAll(/<a href="\.\/applications\?[^"]*"><bdi>([^<]*)</gu)].map(
    ([, name = '']) => name,
  );
}
