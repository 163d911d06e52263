import { createRequire } from 'node:module';

/** What a value looks like: `text` with its unit in `prefix` and `suffix`. */
export interface DisplayValue {
  readonly text: string;
  readonly numeric: number;
  readonly prefix?: string;
  readonly suffix?: string;
  /** As CSS. */
  readonly color?: string;
  readonly title?: string;
}

export interface LinkModel {
  readonly href: string;
  readonly title: string;
}

interface Step {
  readonly value: number | null;
  readonly color: string;
}

export interface FieldConfig {
  readonly unit?: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly noValue?: string;
  readonly displayName?: string;
  readonly displayNameFromDS?: string;
  readonly color?: { readonly mode: string; readonly fixedColor?: string };
  readonly thresholds?: { readonly mode: string; readonly steps: readonly Step[] };
  readonly mappings?: readonly object[];
  readonly links?: readonly object[];
  readonly custom?: Readonly<Record<string, unknown>>;
}

/** Of a field; nothing where a row of a merged table has none. */
export type FieldValue = string | number | null | undefined;

export interface Field {
  readonly name: string;
  readonly type: 'time' | 'number' | 'string';
  readonly labels?: Readonly<Record<string, string>>;
  readonly config: FieldConfig;
  readonly values: readonly FieldValue[];
  readonly display?: (value: FieldValue, decimals?: number) => DisplayValue;
  readonly getLinks?: (of: { readonly valueRowIndex?: number }) => readonly LinkModel[];
  readonly state?: { readonly range?: { readonly min?: number; readonly max?: number } };
}

export interface Frame {
  readonly refId?: string;
  readonly name?: string;
  readonly length: number;
  readonly fields: readonly Field[];
}

export interface FieldConfigSource {
  readonly defaults: FieldConfig;
  readonly overrides: readonly {
    readonly matcher: { readonly id: string; readonly options: unknown };
    readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
  }[];
}

/** What a link or a text can refer to: `__dataContext` where it belongs to a value. */
export type ScopedVars = Readonly<Record<string, { readonly value: unknown }>>;
export type Replace = (
  text: string | undefined,
  scopedVars?: ScopedVars,
  format?: string | FormatFunction,
) => string;
export type FormatFunction = (
  value: string | readonly string[],
  variable: { readonly multi: boolean; readonly includeAll: boolean },
) => string;

export interface Theme {
  readonly visualization: {
    readonly hues: readonly {
      readonly name: string;
      readonly shades: readonly { readonly color: string; readonly name: string }[];
    }[];
    getColorByName(name: string): string;
  };
}

interface RegistryItem {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly isCustom?: true;
  readonly settings: object;
  readonly process: unknown;
  readonly shouldApply: (field: Field) => boolean;
}

/** The options of fields that a kind of panel has. */
export type FieldConfigRegistry = object;

interface FieldDisplay {
  readonly display: DisplayValue;
  readonly field: FieldConfig;
  readonly sparkline?: { readonly y: Field };
  readonly hasLinks: boolean;
  readonly getLinks?: () => readonly LinkModel[];
}

interface Frames {
  subscribe(next: (frames: readonly Frame[]) => void): unknown;
}

interface Transformer {
  readonly id: string;
  readonly defaultOptions?: object;
  operator(
    options: object,
    context: { interpolate: (text: string) => string },
  ): (source: Frames) => Frames;
}

export interface ReduceOptions {
  readonly calcs: readonly string[];
  readonly fields?: string;
  readonly values?: boolean;
}

interface EvaluationOptions {
  readonly data: readonly Frame[];
  readonly fieldConfig: FieldConfigSource;
  readonly fieldConfigRegistry?: FieldConfigRegistry;
  readonly replaceVariables: Replace;
  readonly theme: Theme;
  readonly timeZone: string;
}

interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** The part of `@grafana/data` that the tests use. Its own types need a browser's. */
export interface GrafanaData {
  readonly FieldConfigOptionsRegistry: new (items: () => RegistryItem[]) => FieldConfigRegistry;
  readonly standardTransformers: Readonly<Record<string, Transformer>>;
  readonly urlUtil: { toUrlParams(parameters: object): string };
  readonly rangeUtil: {
    calculateInterval(range: TimeRange, points: number, minimum: string): { intervalMs: number };
  };
  readonly textUtil: { sanitizeUrl(address: string): string };
  readonly locationUtil: {
    initialize(options: {
      readonly config: { readonly appSubUrl: string; readonly disableSanitizeHtml: boolean };
    }): void;
  };
  displayNameOverrideProcessor: unknown;
  stringOverrideProcessor: unknown;
  numberOverrideProcessor: unknown;
  identityOverrideProcessor: unknown;
  dataLinksOverrideProcessor: unknown;
  valueMappingsOverrideProcessor: unknown;
  thresholdsOverrideProcessor: unknown;
  createTheme(options: { colors: { mode: 'dark' | 'light' } }): Theme;
  getPanelOptionsWithDefaults(options: {
    readonly plugin: object;
    readonly currentOptions: object;
    readonly currentFieldConfig: object;
    readonly isAfterPluginChange: boolean;
  }): { readonly options: object; readonly fieldConfig: FieldConfigSource };
  applyFieldOverrides(options: EvaluationOptions): readonly Frame[];
  getFieldDisplayValues(
    options: EvaluationOptions & {
      readonly reduceOptions: ReduceOptions;
      readonly sparkline: boolean;
    },
  ): readonly FieldDisplay[];
  getFieldDisplayName(field: Field, frame: Frame, frames: readonly Frame[]): string;
  getFieldDisplayValuesProxy(options: { frame: Frame; rowIndex: number }): object;
  formatLabels(
    labels: Readonly<Record<string, string>>,
    byDefault: string,
    withBrackets: true,
  ): string;
  formattedValueToString(value: DisplayValue): string;
  getActiveThreshold(value: number, steps: readonly Step[]): Step;
  getValueFormat(unit: string): (value: number, decimals?: number) => DisplayValue;
  getFieldSeriesColor(field: Field, theme: Theme): { readonly color: string };
  reduceField(options: {
    field: Field;
    reducers: readonly string[];
  }): Readonly<Record<string, number | null>>;
  renderLegendFormat(format: string, labels: Readonly<Record<string, string>>): string;
  stringToJsRegex(text: string): RegExp;
  transformDataFrame(options: readonly [], data: readonly Frame[]): Frames;
}

const require = createRequire(import.meta.url);

/**
 * Loads Grafana's library for data. It asks the browser for the language when it is loaded, and Node
 * 20 has no `navigator`: it gets one for that moment only, since other code recognises a browser by
 * it. The library's modules for `import` do not load in Node.
 *
 * Links come out as they are written. Since its version 7.0.2 `@braintree/sanitize-url`, which Grafana
 * applies to them, decodes a whole address; `textUtil.sanitizeUrl` shows what is left then.
 */
export function loadGrafanaData(): GrafanaData {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', {
    configurable: true,
    value: { language: 'en-US', languages: ['en-US'] },
  });
  try {
    const grafana = require('@grafana/data') as GrafanaData;
    // It makes its list of units when the first one is asked for, and asks again for the language.
    grafana.getValueFormat('none');
    grafana.locationUtil.initialize({ config: { appSubUrl: '', disableSanitizeHtml: true } });
    return grafana;
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, 'navigator');
    else Object.defineProperty(globalThis, 'navigator', before);
  }
}
