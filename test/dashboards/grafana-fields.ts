import type { Panel } from './dashboard-files.ts';
import type {
  Field,
  FieldConfigRegistry,
  FieldConfigSource,
  Frame,
  GrafanaData,
  LinkModel,
  Replace,
  Theme,
} from './grafana-data.ts';

/** What panels are drawn with. */
export interface Drawing {
  readonly grafana: GrafanaData;
  readonly theme: Theme;
  readonly replace: Replace;
}

const isNumber = ({ type }: Field): boolean => type === 'number';

/** The options of fields that every panel has, as Grafana registers them (`getAllStandardFieldConfigs`). */
function standardOptions(
  grafana: GrafanaData,
): readonly (readonly [string, unknown, ((field: Field) => boolean)?])[] {
  const {
    displayNameOverrideProcessor: name,
    stringOverrideProcessor: text,
    numberOverrideProcessor: number,
    identityOverrideProcessor: identity,
  } = grafana;
  return [
    ['displayName', name],
    ['unit', text],
    ['min', number, isNumber],
    ['max', number, isNumber],
    ['fieldMinMax', identity, isNumber],
    ['decimals', number, isNumber],
    ['noValue', name],
    ['color', identity],
    ['links', grafana.dataLinksOverrideProcessor],
    ['mappings', grafana.valueMappingsOverrideProcessor, ({ type }) => type !== 'time'],
    ['thresholds', grafana.thresholdsOverrideProcessor, isNumber],
    ['filterable', identity],
  ];
}

/** The options of a panel's own kind that its JSON sets, as `custom.width`. */
function customOptions({ defaults, overrides }: FieldConfigSource): ReadonlySet<string> {
  const overridden = overrides.flatMap(({ properties }) => properties.map(({ id }) => id));
  return new Set([
    ...Object.keys(defaults.custom ?? {}),
    ...overridden.filter((id) => id.startsWith('custom.')).map((id) => id.slice('custom.'.length)),
  ]);
}

function registryOf(source: FieldConfigSource, grafana: GrafanaData): FieldConfigRegistry {
  const { FieldConfigOptionsRegistry, identityOverrideProcessor: process } = grafana;
  const always = (): boolean => true;
  return new FieldConfigOptionsRegistry(() => [
    ...[...customOptions(source)].map((path) => ({
      id: `custom.${path}`,
      path,
      name: path,
      isCustom: true as const,
      settings: {},
      process,
      shouldApply: always,
    })),
    ...standardOptions(grafana).map(([id, standard, shouldApply = always]) => ({
      id,
      path: id,
      name: id,
      settings: {},
      process: standard,
      shouldApply,
    })),
  ]);
}

/** Where a panel says nothing of thresholds, Grafana has these, also in tables. */
const defaultThresholds = {
  mode: 'absolute',
  steps: [
    { value: null, color: 'green' },
    { value: 80, color: 'red' },
  ],
};

/** Frames after the transformations of a panel. Grafana's are applied one by one, for it does that only in a browser. */
function transformed(
  { transformations = [] }: Panel,
  frames: readonly Frame[],
  { grafana, replace }: Drawing,
): readonly Frame[] {
  const known = Object.values(grafana.standardTransformers);
  return transformations.reduce((before, { id, options }) => {
    const transformer = known.find((one) => one.id === id);
    if (transformer === undefined) throw new Error(`Grafana has no transformation ${id}`);
    const source = grafana.transformDataFrame([], before);
    const context = { interpolate: (text: string) => replace(text) };
    let after = before;
    transformer
      .operator(
        { ...transformer.defaultOptions, ...options },
        context,
      )(source)
      .subscribe((frame) => {
        after = frame;
      });
    return after;
  }, frames);
}

/** Where the links of a value lead. */
export function addressesOf(links: readonly LinkModel[] = []): readonly string[] {
  return links.map(({ href }) => href);
}

export interface Prepared {
  readonly fieldConfig: FieldConfigSource;
  /** With units, colours, mappings and links applied. */
  readonly frames: readonly Frame[];
}

/** What a panel gets to draw: transformed, with its field options and overrides, by Grafana's own code. */
export function prepared(panel: Panel, frames: readonly Frame[], drawing: Drawing): Prepared {
  const { grafana, theme, replace } = drawing;
  const source = panel.fieldConfig ?? { defaults: {}, overrides: [] };
  const registry = registryOf(source, grafana);
  const { fieldConfig } = grafana.getPanelOptionsWithDefaults({
    plugin: {
      defaults: {},
      fieldConfigDefaults: {
        defaults: { thresholds: defaultThresholds, mappings: [] },
        overrides: [],
      },
      fieldConfigRegistry: registry,
    },
    currentOptions: panel.options ?? {},
    currentFieldConfig: structuredClone(source),
    isAfterPluginChange: false,
  });
  return {
    fieldConfig,
    frames: grafana.applyFieldOverrides({
      data: transformed(panel, frames, drawing),
      fieldConfig,
      fieldConfigRegistry: registry,
      replaceVariables: replace,
      theme,
      timeZone: 'utc',
    }),
  };
}
