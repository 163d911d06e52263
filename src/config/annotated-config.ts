import { Document, isCollection, isNode } from 'yaml';
import type { PlainConfig } from '../model/config.ts';
import { printable } from '../model/line-text.ts';
import type { Place } from './diagnostic.ts';
import {
  type EffectiveConfig,
  effectiveConfig,
  type FileValue,
  yamlStyle,
} from './effective-config.ts';
import type { InspectedConfig } from './load-config.ts';
import { configJsonSchema } from './schema.ts';
import { knownKeysAt } from './shape-problems.ts';
import type { At } from './yaml-node.ts';

/** Keys and indices that lead to a value. */
export type ConfigPath = readonly (string | number)[];

/** Where a value comes from: a place in the file, or `default`. */
export type Origin = Pick<Place, 'fileName' | 'line' | 'column'> | 'default';

/** A value of the effective configuration. */
export interface AnnotatedValue {
  readonly path: ConfigPath;
  readonly value: FileValue;
  readonly origin: Origin;
}

/** The effective configuration, and where each of its values comes from. */
export interface AnnotatedConfig {
  readonly config: EffectiveConfig;
  readonly values: readonly AnnotatedValue[];
}

/** A map of this key is one value, and so is a list of texts; everything else is looked into. */
const wholeMap = 'hosts';

function isWhole(value: FileValue, key: string | number | undefined): boolean {
  if (typeof value !== 'object' || key === wholeMap) return true;
  const members: readonly FileValue[] = Object.values(value);
  return members.length === 0 || (Array.isArray(value) && members.every(isScalarValue));
}

function isScalarValue(value: FileValue): boolean {
  return typeof value !== 'object';
}

function leavesOf(value: FileValue, path: ConfigPath): readonly Omit<AnnotatedValue, 'origin'>[] {
  if (typeof value !== 'object' || isWhole(value, path.at(-1))) return [{ path, value }];
  if (Array.isArray(value)) {
    const items: readonly FileValue[] = value;
    return items.flatMap((item, index) => leavesOf(item, [...path, index]));
  }
  return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...path, key]));
}

/** Finds where the file sets a value of the effective configuration. */
function createFinder(
  { apps }: EffectiveConfig,
  { at }: Pick<InspectedConfig, 'at'>,
): (path: ConfigPath) => ReturnType<At> {
  const pollKeys = knownKeysAt(configJsonSchema(), ['poll']);
  // Its settings are those of `poll`.
  const usual = apps.findIndex((entry) => !pollKeys.some((key) => Object.hasOwn(entry, key)));
  return (path) => {
    const [section = '', index = '', key = '', ...within] = path;
    if (section === 'poll') {
      const isOwn = at('apps', usual, index) !== undefined;
      return isOwn ? at('apps', usual, ...path.slice(1)) : at(...path);
    }
    if (path.length < 3 || at(section, index, key) !== undefined) return at(...path);
    if (section === 'accounts' && key === 'base_url') return at(section, index, 'region');
    const isOfPoll = section === 'apps' && pollKeys.includes(String(key));
    return isOfPoll ? at('poll', key, ...within) : undefined;
  };
}

/** Says of every value of a configuration where the file sets it. */
export function annotatedConfig(
  config: PlainConfig,
  file: Pick<InspectedConfig, 'at' | 'placeOf'>,
): AnnotatedConfig {
  const effective = effectiveConfig(config);
  const find = createFinder(effective, file);
  const { accounts, poll, apps } = effective;
  const values = leavesOf({ accounts, poll, apps }, []).map((leaf): AnnotatedValue => {
    const span = find(leaf.path)?.span;
    if (span === undefined) return { ...leaf, origin: 'default' };
    const { fileName, line, column } = file.placeOf(span);
    return { ...leaf, origin: { fileName, line, column } };
  });
  return { config: effective, values };
}

/** The origin of a value in a few words, such as `config.yaml:12`. */
function originText(origin: Origin): string {
  return origin === 'default' ? origin : `${printable(origin.fileName)}:${origin.line}`;
}

/** As a configuration file that means the same, with the origin of each value behind it. */
export function annotatedText({ config, values }: AnnotatedConfig, header: string): string {
  const document = new Document(config, yamlStyle);
  document.commentBefore = header;
  for (const { path, origin } of values) {
    const node = document.getIn(path, true);
    if (!isNode(node)) continue;
    if (isCollection(node)) node.flow = true;
    node.comment = ` ${originText(origin)}`;
  }
  return document.toString(yamlStyle);
}
