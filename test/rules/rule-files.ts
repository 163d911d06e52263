import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectFolder } from '../docs/documents.ts';

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Recording {
  readonly record: string;
  readonly expr: string;
}

export interface RuleFile {
  /** Without the ending: `recording`, `exporter`, `applications`. */
  readonly name: string;
  readonly path: string;
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly (Alert | Recording)[];
  }[];
}

/** As much of a file of `promtool test rules` as is looked at. */
interface RuleTestFile {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly {
      readonly alertname: string;
      readonly exp_alerts?: readonly unknown[];
    }[];
    readonly promql_expr_test?: readonly { readonly expr: string }[];
  }[];
}

function yamlFilesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .toSorted()
    .map((name) => join(folder, name));
}

export const rulesFolder: string = join(projectFolder, 'helm/newrelic-exporter/rules');

export function readRuleFiles(): readonly RuleFile[] {
  return yamlFilesIn(rulesFolder).map((path) => ({
    ...(parse(readFileSync(path, 'utf8')) as Pick<RuleFile, 'groups'>),
    name: /([^/]+)\.yaml$/.exec(path)?.[1] ?? '',
    path,
  }));
}

export function alertsOf(files: readonly RuleFile[]): readonly Alert[] {
  return files.flatMap(({ groups }) =>
    groups.flatMap(({ rules }) => rules.filter((rule): rule is Alert => 'alert' in rule)),
  );
}

export function recordingsOf(files: readonly RuleFile[]): readonly Recording[] {
  return files.flatMap(({ groups }) =>
    groups.flatMap(({ rules }) => rules.filter((rule): rule is Recording => 'record' in rule)),
  );
}

/** The files that `promtool test rules` reads. */
export const ruleTestPaths: readonly string[] = yamlFilesIn(join(projectFolder, 'test/rules'));

export function readRuleTests(): RuleTestFile['tests'] {
  return ruleTestPaths.flatMap((path) => (parse(readFileSync(path, 'utf8')) as RuleTestFile).tests);
}
