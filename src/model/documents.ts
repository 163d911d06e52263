/** The page of the documentation for users: what is installed has no files of it. */
export function documentUrl(page: string): string {
  return `https://github.com/newrelic-exporter/newrelic-exporter/blob/main/docs/${page}`;
}
