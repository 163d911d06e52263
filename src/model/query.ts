import type { Query } from './config.ts';
import type { SelectedApplication } from './selected-application.ts';

/** Begins what no id of an application has. */
const idPrefix = 'query ';

/** The query as the poll loop knows it: one more subject, without hosts and without series of its own. */
export function subjectOf(query: Query): SelectedApplication {
  const { account, name, poll } = query;
  return {
    application: {
      id: `${idPrefix}${name}`,
      name,
      language: undefined,
      healthStatus: undefined,
      reporting: undefined,
      lastReportedAtMs: undefined,
      summary: undefined,
      hostIds: undefined,
      instances: undefined,
    },
    entry: {
      account,
      selector: { kind: 'name', name },
      exclude: false,
      labels: {},
      hosts: false,
      application: true,
      transactions: [],
      series: [],
      poll,
      query,
    },
  };
}

/** The query that stands for an application; `undefined` for an application. */
export function queryOf({
  selected,
}: {
  readonly selected: SelectedApplication;
}): Query | undefined {
  return selected.entry.query;
}

export function isQuery(subject: { readonly selected: SelectedApplication }): boolean {
  return queryOf(subject) !== undefined;
}
