import type { Dashboard, Variable } from './dashboard-files.ts';
import type { GrafanaData, Replace } from './grafana-data.ts';
import type { PrometheusSeries } from './grafana-frames.ts';

/** The value of a choice that takes everything. */
const allValue = '$__all';

interface Option {
  readonly label: string;
  readonly value: string;
}

/** A variable of an open dashboard. */
export interface Chosen {
  readonly name: string;
  readonly multi: boolean;
  readonly includeAll: boolean;
  /** Whether addresses leave it out. */
  readonly skipUrlSync: boolean;
  /** What a query gets for "All", if it is not the list of all values. */
  readonly allValue: string | undefined;
  readonly options: readonly Option[];
  readonly value: string | readonly string[];
  readonly text: string | readonly string[];
}

/** What the list of a variable is made from. */
export interface VariableSource {
  labelValues(label: string, selector: string): Promise<readonly string[]>;
  vector(expression: string): Promise<readonly PrometheusSeries[]>;
}

export function hasAll({ value }: Chosen): boolean {
  return value === allValue || (Array.isArray(value) && value[0] === allValue);
}

/** As `metricFindQuery` of Grafana's data source for Prometheus (`metric_find_query.ts`). */
async function answersOf(query: string, source: VariableSource): Promise<readonly string[]> {
  const [, selector, label] = /^label_values\((?:(.+),\s*)?([a-zA-Z_]\w*)\)\s*$/.exec(query) ?? [];
  if (label !== undefined) return source.labelValues(label, selector ?? '');
  const [, expression] = /^query_result\((.+)\)\s*$/.exec(query) ?? [];
  if (expression === undefined) throw new Error(`Not a query of a variable: ${query}`);
  return (await source.vector(expression)).map(({ metric, value = [0, ''] }) => {
    const { __name__: name = '', ...labels } = metric;
    // Values are not escaped, as in Grafana.
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${text}"`);
    return `${name}{${pairs.join(',')}} ${value[1]} ${value[0] * 1000}`;
  });
}

/** As `metricNamesToVariableValues` of Grafana's scenes: groups called `text` and `value`, or the first one. */
function optionsOf(
  answers: readonly string[],
  regex: string,
  grafana: GrafanaData,
): readonly Option[] {
  if (regex === '') return answers.map((value) => ({ label: value, value }));
  const pattern = grafana.stringToJsRegex(regex);
  return answers.flatMap((answer) => {
    const all = pattern.global ? [...answer.matchAll(pattern)] : [pattern.exec(answer)];
    const matches = all.filter((match) => match !== null);
    const groupOf = (name: string): string | undefined =>
      matches
        .map(({ groups }) => groups?.[name])
        .find((group) => group !== undefined && group !== '');
    const [text, value] = [groupOf('text'), groupOf('value')];
    const named = value ?? text;
    if (named !== undefined) return [{ value: named, label: text ?? named }];
    const [first] = matches;
    if (first === undefined) return [];
    if (first.length === 1) return [{ label: answer, value: answer }];
    return (matches.length > 1 ? matches : [first]).map(([, group = '']) => ({
      label: group,
      value: group,
    }));
  });
}

function sorted(options: readonly Option[], sort: number): readonly Option[] {
  const unique = [
    ...new Map(options.toReversed().map((option) => [option.value, option])).values(),
  ].toReversed();
  if (sort === 0) return unique;
  const keyOf = ({ label }: Option): string => (sort === 5 ? label.toLowerCase() : label);
  // As `sortVariableValues`: 1 is alphabetical, 5 the same without regard to case.
  if (sort !== 1 && sort !== 5) throw new Error(`The tests cannot sort a variable by ${sort}`);
  return unique.toSorted((one, other) => {
    if (keyOf(one) === keyOf(other)) return 0;
    return keyOf(one) < keyOf(other) ? -1 : 1;
  });
}

function isEmpty(value: string | readonly string[]): boolean {
  return value.length === 0;
}

/** As `getStateUpdateGivenNewOptions` and `interceptStateUpdateAfterValidation` of `MultiValueVariable`. */
function chosen(
  variable: Variable,
  options: readonly Option[],
  fromUrl: readonly string[],
): Chosen {
  const { name, multi, includeAll, skipUrlSync, current } = variable;
  const wanted = fromUrl.map((value) => (includeAll && value === 'All' ? allValue : value));
  const labelOf = (value: string): string => {
    if (value === allValue) return 'All';
    return options.find((option) => option.value === value)?.label ?? value;
  };
  const of = (values: readonly string[]): Chosen => {
    const [first = ''] = values;
    const value = multi ? values : first;
    const text = multi ? values.map(labelOf) : labelOf(first);
    return {
      name,
      multi,
      includeAll,
      skipUrlSync,
      allValue: variable.allValue,
      options,
      value,
      text,
    };
  };
  // What the address says is kept, whether it is among the options or not.
  if (!isEmpty(wanted)) return of(wanted.at(-1) === allValue ? [allValue] : wanted);
  const saved = [current.value ?? []].flat();
  const valid = saved.filter(
    (value) => value === allValue || options.some((option) => option.value === value),
  );
  if (!isEmpty(valid)) return of(valid);
  if (includeAll) return of([allValue]);
  return of(options.slice(0, 1).map(({ value }) => value));
}

/** What a dashboard begins with for an address, list by list, since each depends on those before it. */
export async function chooseFor(
  { templating }: Dashboard,
  address: URLSearchParams,
  source: VariableSource,
  grafana: GrafanaData,
  replaceWith: (variables: readonly Chosen[]) => Replace,
): Promise<readonly Chosen[]> {
  const choices: Chosen[] = [];
  for (const variable of templating.list) {
    const query = typeof variable.query === 'string' ? variable.query : variable.query.query;
    const fromUrl = address.getAll(`var-${variable.name}`);
    const optionsFor = async (): Promise<readonly Option[]> => {
      if (variable.type === 'datasource') return [{ label: 'Prometheus', value: 'a-prometheus' }];
      if (variable.type === 'custom')
        return query.split(',').map((value) => ({ label: value, value }));
      const filled = replaceWith(choices)(query, {}, interpolateQueryExpression);
      return sorted(
        optionsOf(await answersOf(filled, source), variable.regex, grafana),
        variable.sort ?? 0,
      );
    };
    choices.push(chosen(variable, await optionsFor(), fromUrl));
  }
  return choices;
}

/** As `prometheusSpecialRegexEscape` without the feature toggle: a quotation mark stays as it is. */
function escapedForRegex(value: string): string {
  return value.replaceAll('\\', '\\\\\\\\').replaceAll(/[$^*{}[\]+?.()|]/g, String.raw`\\$&`);
}

/** As `interpolateQueryExpr` of Grafana's data source for Prometheus (`escaping.ts`). */
export function interpolateQueryExpression(
  value: string | readonly string[],
  { multi, includeAll }: { readonly multi: boolean; readonly includeAll: boolean },
): string {
  if (typeof value === 'string') {
    if (multi || includeAll) return escapedForRegex(value);
    return value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\\'`);
  }
  const parts = value.map(escapedForRegex);
  const [only = ''] = parts;
  return parts.length === 1 ? only : `(${parts.join('|')})`;
}
