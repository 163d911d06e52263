import type { Dashboard, Variable } from './dashboard-files.ts';

/** What is chosen for each variable. */
export type Choice = Readonly<Record<string, string>>;

/** As Grafana's data source for Prometheus escapes values of a variable that may have several. */
function escaped(value: string): string {
  return value
    .replaceAll('\\', '\\\\\\\\')
    .replaceAll(/[$^*{}[\]'+?.()|]/g, (character) => `\\\\${character}`);
}

/** The query of a variable: `label_values(selector, label)`. */
export function labelQueryOf({ query }: Variable): {
  readonly label: string;
  readonly selector: string;
} {
  const text = typeof query === 'string' ? query : query.query;
  const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(text) ?? [];
  return { label, selector };
}

/** As Grafana fills in an expression where the data source says that it scrapes each 5 seconds. */
export function filledIn(expression: string, choice: Choice): string {
  return expression
    .replaceAll('$__rate_interval', '20s')
    .replaceAll(/\$([a-z_]+)/g, (_, name: string) => {
      const value = choice[name];
      if (value === undefined) throw new Error(`There is no variable $${name}`);
      return value;
    });
}

/**
 * Chooses values from first to last, since each list depends on the choices before it: "All" where
 * there is such a choice, otherwise what `preferred` names or the first value.
 */
export async function chooseAll(
  { templating }: Dashboard,
  preferred: Choice,
  valuesOf: (label: string, selector: string) => Promise<readonly string[]>,
): Promise<Choice> {
  const choice: Record<string, string> = {};
  for (const variable of templating.list) {
    const { name, includeAll, allValue } = variable;
    if (variable.type === 'custom') choice[name] = String(variable.current.value);
    if (variable.type !== 'query') continue;
    const { label, selector } = labelQueryOf(variable);
    const values = await valuesOf(label, filledIn(selector, choice));
    const wanted = preferred[name];
    if (wanted !== undefined && !values.includes(wanted)) {
      throw new Error(`${name} does not offer ${wanted} but ${values.join(', ')}`);
    }
    const one = escaped(wanted ?? values[0] ?? '');
    choice[name] = includeAll && wanted === undefined ? (allValue ?? '') : one;
  }
  return choice;
}
