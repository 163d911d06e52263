import type { Dashboard, Variable } from './dashboard-files.ts';
import type { Answer } from './prometheus.ts';

/** What is chosen for each variable. */
export type Choice = Readonly<Record<string, string>>;

/** "All" of every variable. */
export const everything: Choice = {
  cluster: '.*',
  job: '.+',
  instance: '.+',
  account: '.+',
  app: '.+',
  host: '.+',
  transaction_type: '.+',
  topn: '10',
  // Grafana's list of nothing: no exporter, so that the hosts of all are looked at.
  whole_exporters: '()',
  listed_apps: '.+',
  busiest_apps: '.+',
};

/** What a variable offers. */
export interface Option {
  readonly value: string;
  readonly text: string;
}

/** What is asked to list the options of variables. */
export interface Source {
  query(expression: string): Promise<Answer>;
  labelValues(label: string, selector: string): Promise<readonly string[]>;
}

/** As Grafana's data source for Prometheus escapes values of a variable that may have several. */
function escaped(value: string): string {
  return value
    .replaceAll('\\', '\\\\\\\\')
    .replaceAll(/[$^*{}[\]'+?.()|]/g, (character) => `\\\\${character}`);
}

/** The query of a variable: `function(expression)` or `label_values(selector, label)`. */
function variableQueryOf({ query }: Variable): {
  readonly expression: string;
  /** Of `label_values`. */
  readonly label?: string;
} {
  const text = typeof query === 'string' ? query : query.query;
  const ofLabel = /^label_values\((.*), (\w+)\)$/.exec(text);
  if (ofLabel !== null) {
    const [, expression = '', label = ''] = ofLabel;
    return { expression, label };
  }
  const [, expression = ''] = /^query_result\((.*)\)$/.exec(text) ?? [];
  return { expression };
}

/** As Grafana fills in an expression; the interval of rates is that of a scrape each 5 seconds. */
export function filledIn(expression: string, choice: Choice): string {
  return expression
    .replaceAll('$__rate_interval', '20s')
    .replaceAll('$__range', '1h')
    .replaceAll(/\$([a-z_]+)/g, (_, name: string) => {
      const value = choice[name];
      if (value === undefined) throw new Error(`There is no variable $${name}`);
      return value;
    });
}

/** The line of a series that Grafana applies the regular expression of a variable to. */
function lineOf(metric: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(metric).map(([label, text]) => `${label}="${text}"`);
  return `{${pairs.join(',')}} ${value} 1700000000000`;
}

function optionIn(line: string, regex: string): readonly Option[] {
  const { groups } = new RegExp(regex.slice(1, -1)).exec(line) ?? {};
  const { value, text = value } = groups ?? {};
  return value === undefined || text === undefined ? [] : [{ value, text }];
}

/** What a variable offers, given the choices for those before it. */
export async function optionsOf(
  variable: Variable,
  choice: Choice,
  source: Source,
): Promise<readonly Option[]> {
  const { expression, label } = variableQueryOf(variable);
  const asked = filledIn(expression, choice);
  if (label !== undefined) {
    const values = await source.labelValues(label, asked);
    return values.map((value) => ({ value, text: value }));
  }
  const { error, series } = await source.query(asked);
  if (error !== '') throw new Error(`${variable.name}: ${error}`);
  return series.flatMap(({ metric, values: [value = 0] }) =>
    optionIn(lineOf(metric, value), variable.regex ?? ''),
  );
}

/**
 * Chooses values from first to last, since each list depends on the choices before it: "All" where
 * there is such a choice, otherwise what `preferred` names or the first value.
 */
export async function chooseAll(
  { templating }: Dashboard,
  preferred: Choice,
  source: Source,
): Promise<Choice> {
  const choice: Record<string, string> = {};
  for (const variable of templating.list) {
    const { name, includeAll, allValue } = variable;
    if (variable.type === 'custom') choice[name] = String(variable.current.value);
    if (variable.type !== 'query') continue;
    const values = (await optionsOf(variable, choice, source)).map(({ value }) => value);
    const wanted = preferred[name];
    if (wanted !== undefined && !values.includes(wanted)) {
      throw new Error(`${name} does not offer ${wanted} but ${values.join(', ')}`);
    }
    const one = escaped(wanted ?? values[0] ?? '');
    const all = allValue ?? `(${values.map(escaped).join('|')})`;
    choice[name] = includeAll && wanted === undefined ? all : one;
  }
  return choice;
}
