import { labelValueOf } from '../model/label-value.ts';

/** Labels in the order in which they are printed. */
export type Labels = readonly (readonly [name: string, value: string])[];

/** One series of a family: its labels as `renderLabels` gives them, and its value. */
export interface Sample {
  /** Those of its host, which are printed first; empty for none. */
  readonly host?: string;
  readonly labels: string;
  readonly value: number;
}

/** Rendered labels that all series of a family share, printed before and after their own. */
export interface SharedLabels {
  readonly before: string;
  readonly after: string;
}

const needsEscape = /["\\]/g;

/** Labels of any texts as they are printed between the braces, such as `a="1",b="2"`; empty for none. */
export function renderLabels(labels: Labels): string {
  let text = '';
  for (const [name, value] of labels) {
    const escaped = labelValueOf(value).replaceAll(needsEscape, '\\$&');
    text += `${text === '' ? '' : ','}${name}="${escaped}"`;
  }
  return text;
}

export function renderHeader(name: string, help: string): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${escaped}\n# TYPE ${name} gauge\n`;
}

/** The lines of the samples in text format 0.0.4, byte for byte as prom-client prints them. */
export function renderSamples(
  name: string,
  shared: SharedLabels,
  samples: readonly Sample[],
): string {
  let text = '';
  for (const { host = '', labels, value } of samples) {
    const all = joined(joined(joined(shared.before, host), labels), shared.after);
    text += all === '' ? `${name} ${value}\n` : `${name}{${all}} ${value}\n`;
  }
  return text;
}

function joined(left: string, right: string): string {
  return left === '' || right === '' ? left + right : `${left},${right}`;
}
