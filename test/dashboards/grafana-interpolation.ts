import type {
  Field,
  FormatFunction,
  Frame,
  GrafanaData,
  Replace,
  ScopedVars,
} from './grafana-data.ts';
import { type Chosen, hasAll } from './grafana-variables.ts';

interface TimeRange {
  /** As in the address, such as `now-6h`. */
  readonly from: string;
  readonly to: string;
}

/** What `__dataContext` holds where a text belongs to a value. */
interface DataContext {
  readonly data: readonly Frame[];
  readonly frame: Frame;
  readonly field: Field;
  readonly rowIndex?: number;
  readonly calculatedValue?: { readonly numeric: number };
}

type Value = string | readonly string[];

/** `$name`, `[[name:format]]` and `${name.path:format}`, as `VARIABLE_REGEX` of Grafana. */
const references = /\$(\w+)|\[\[(\w+?)(?::(\w+))?\]\]|\$\{(\w+)(?:\.([^:^}]+))?(?::([^}]+))?\}/g;

/** RFC 3986, as `encodeURIComponentStrict` of Grafana. */
function encoded(value: string, encode: (text: string) => string = encodeURIComponent): string {
  return encode(value).replaceAll(/[!'()*]/g, (character) => {
    return `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
  });
}

function listed(value: Value): string {
  return typeof value === 'string' ? value : `{${value.join(',')}}`;
}

/** The formats of Grafana's scenes (`formatRegistry.ts`), as far as dashboards may use them. */
function formatted(value: Value, format: string): string {
  switch (format) {
    case 'glob':
      return typeof value !== 'string' && value.length > 1 ? listed(value) : String(value);
    case 'raw':
    case 'csv':
      return String(value);
    case 'percentencode':
      return encoded(listed(value));
    case 'uriencode':
      return encoded(listed(value), encodeURI);
    case 'pipe':
      return typeof value === 'string' ? value : value.join('|');
    default:
      throw new Error(`The tests do not know the format ${format}`);
  }
}

/** What is chosen, as `queryparam` writes it: "All" by its own value. */
function asParameters(variables: readonly Chosen[], { urlUtil }: GrafanaData): string {
  return urlUtil.toUrlParams(
    Object.fromEntries(variables.map(({ name, value }) => [`var-${name}`, value])),
  );
}

/** As `MultiValueVariable.getValue` with the format of the text that it stands in. */
function valueOf(variable: Chosen, format: string | FormatFunction, grafana: GrafanaData): string {
  if (format === 'queryparam') return asParameters([variable], grafana);
  if (format === 'text') return [variable.text].flat().join(' + ');
  if (hasAll(variable) && variable.allValue !== undefined) {
    return format === 'percentencode' ? encoded(variable.allValue) : variable.allValue;
  }
  const value = hasAll(variable) ? variable.options.map((option) => option.value) : variable.value;
  return typeof format === 'function' ? format(value, variable) : formatted(value, format);
}

/** As `lodash.property` for the paths that occur: `labels.account`, `fields["Account"]`, `fields[0]`. */
function at(object: object, path: string): unknown {
  const keys = [...path.matchAll(/\["([^"]*)"\]|\['([^']*)'\]|\[(\d+)\]|([^.[\]]+)/g)];
  return keys.reduce<unknown>((inner, [, ...groups]) => {
    const key = groups.find((group) => group !== undefined) ?? '';
    if (typeof inner !== 'object' || inner === null) return undefined;
    return (inner as Readonly<Record<string, unknown>>)[key];
  }, object);
}

/** Text, a number, or an object with a text. */
interface Printable {
  toString(): string;
}

/** The macros `__field`, `__data` and `__value` (`dataMacros.ts` of Grafana's scenes). */
function macro(
  name: string,
  path: string,
  { frame, field, data, rowIndex }: DataContext,
  grafana: GrafanaData,
): string | undefined {
  const textOf = (value: unknown): string =>
    value === undefined || value === null ? '' : (value as Printable).toString();
  if (name === '__field') {
    const displayName = grafana.getFieldDisplayName(field, frame, data);
    const { labels = {} } = field;
    const named = { ...labels, toString: () => grafana.formatLabels(labels, '', true) };
    return textOf(at({ name: field.name, displayName, labels: named }, path));
  }
  if (rowIndex === undefined) return undefined;
  if (name === '__data') {
    return textOf(at({ fields: grafana.getFieldDisplayValuesProxy({ frame, rowIndex }) }, path));
  }
  const value = field.values[rowIndex];
  if (name !== '__value') return undefined;
  const display = field.display?.(value);
  return path === 'raw' || display === undefined
    ? textOf(value)
    : grafana.formattedValueToString(display);
}

/** What a reference stands for; `undefined` if it stands for nothing, and then stays as it is. */
function meaning(
  name: string,
  path: string,
  scopedVars: ScopedVars,
  { grafana, variables, range }: Context,
): ((format: string | FormatFunction) => string) | undefined {
  const scoped = scopedVars[name];
  const format = (value: string) => (how: string | FormatFunction) =>
    typeof how === 'function'
      ? how(value, { multi: false, includeAll: false })
      : formatted(value, how);
  if (scoped !== undefined) return format(String(scoped.value));
  const variable = variables.find((one) => one.name === name);
  if (variable !== undefined) return (how) => valueOf(variable, how, grafana);
  if (name === '__url_time_range') {
    return () => grafana.urlUtil.toUrlParams({ ...range, timezone: 'browser' });
  }
  if (name === '__all_variables') {
    const inAddress = variables.filter(({ skipUrlSync }) => !skipUrlSync);
    return () => asParameters(inAddress, grafana);
  }
  const context = scopedVars['__dataContext'];
  if (context === undefined) return undefined;
  const value = macro(name, path, context.value as DataContext, grafana);
  return value === undefined ? undefined : format(value);
}

interface Context {
  readonly grafana: GrafanaData;
  readonly variables: readonly Chosen[];
  readonly range: TimeRange;
}

/** As `sceneInterpolator` of Grafana's scenes: fills in variables and what belongs to a value. */
export function replacing(context: Context): Replace {
  const replace: Replace = (text = '', scopedVars = {}, format = 'glob') =>
    text.replaceAll(references, (match: string, ...groups: (string | undefined)[]) => {
      const [plain, bracketed, bracketFormat, braced, path = '', bracedFormat] = groups;
      const name = plain ?? bracketed ?? braced ?? '';
      const value = meaning(name, path, scopedVars, context);
      return value === undefined ? match : value(bracedFormat ?? bracketFormat ?? format);
    });
  return replace;
}

/** Whether something in an address was not filled in. "All" is `$__all` there. */
export function isUnfilled(address: string): boolean {
  return /\$\{|\$__(?!all\b)|\[\[/.test(decodeURIComponent(address));
}
