import { labelProblem, targetLabels } from '../../config/schema-fields.ts';
import { CommandError } from '../../daemon/platform.ts';
import type { AccountInUse } from '../../model/config.ts';
import { everyOwnLabel } from '../../model/own-names.ts';
import { seriesLabels } from '../../model/polled-series.ts';
import { printable } from '../../model/shown-text.ts';
import { renderLabels } from '../../publish/render.ts';

const choice = 'choose another name, or leave it out';

/**
 * The labels that each series gets behind its own, as they are printed, with a comma before each. Throws a
 * `CommandError` if one cannot be.
 *
 * @param written each as NAME=VALUE; what is empty is none
 */
export function addedLabels(written: readonly string[], inUse: readonly AccountInUse[]): string {
  const configured = new Set(inUse.flatMap(configuredLabels));
  const added = new Map<string, string>();
  for (const text of written.filter((one) => one !== '')) {
    const [name = '', ...values] = text.split('=');
    const value = values.join('=');
    const problem =
      nameProblem(name, configured) ??
      (added.has(name) ? 'is given twice: write it once' : undefined) ??
      (value === '' ? 'has no value: write --label=NAME=VALUE' : undefined);
    if (problem !== undefined)
      throw new CommandError(2, `--label: "${printable(name)}" ${problem}`);
    added.set(name, value);
  }
  return Array.from(added, (label) => `,${renderLabels([label])}`).join('');
}

function nameProblem(name: string, configured: ReadonlySet<string>): string | undefined {
  if (configured.has(name)) return `is a label that the configuration gives to series: ${choice}`;
  if (everyOwnLabel.includes(name)) return `is a label of the exporter itself: ${choice}`;
  // Those of targets are what most will want.
  return targetLabels.includes(name) ? undefined : labelProblem(name, []);
}

function configuredLabels({ entries, queries = [] }: AccountInUse): readonly string[] {
  return [
    ...entries.flatMap(({ labels, poll: { tags = {} }, series }) => [
      ...[labels, ...series.map(seriesLabels)].flatMap((one) => Object.keys(one)),
      ...Object.values(tags),
    ]),
    ...queries.flatMap(({ labels, facets }) => [
      ...Object.keys(labels),
      ...facets.map(({ label }) => label),
    ]),
  ];
}
