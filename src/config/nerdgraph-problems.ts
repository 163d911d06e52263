import { hostGaugeName } from '../model/polled-series.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import type { FileConfig } from './schema.ts';
import type { At } from './yaml-node.ts';

/** What only accounts with NerdGraph can have: tags beside other labels, and queries beside other gauges. */
export function nerdgraphProblems(file: FileConfig, at: At): readonly Problem[] {
  const problems = [...tagProblems(file), ...queryProblems(file)].map(([path, message, help]) =>
    errorAt(at(...path)?.span ?? at('poll', 'tags')?.span, message, help),
  );
  // The same in each entry that has the tags of "poll".
  return [...new Map(problems.map((one) => [`${one.span?.start} ${one.message}`, one])).values()];
}

type Found = readonly [path: readonly PropertyKey[], message: string, help: string];

function* tagProblems(file: FileConfig): Iterable<Found> {
  const { poll, apps } = file;
  for (const [index, app] of apps.entries()) {
    const tags = Object.entries(app.tags ?? poll.tags);
    if (app.exclude || tags.length === 0) continue;
    const path = ['apps', index, 'tags'];
    yield* sourceProblems(file, app, 'tags', path);
    const metrics = (app.metrics ?? poll.metrics).filter((one) => typeof one !== 'string');
    const taken = new Set([app, ...metrics].flatMap(({ labels }) => Object.keys(labels)));
    for (const [tag, label] of tags) {
      const message = `the label "${label}" of the tag "${tag}" is there already`;
      const help = `rename it: tags: { ${JSON.stringify(tag)}: other_name }`;
      if (taken.size === taken.add(label).size) yield [path, message, help];
    }
  }
}

function* queryProblems(file: FileConfig): Iterable<Found> {
  const { accounts, poll, apps, queries } = file;
  const metrics = [poll.metrics, ...apps.map((app) => app.metrics ?? [])].flat();
  const ofMetrics = new Set(
    metrics.flatMap((one) => (typeof one === 'string' ? [] : [one.as, hostGaugeName(one.as)])),
  );
  const units = new Map<string, string>();
  const taken = new Set<string>();
  for (const [index, query] of queries.entries()) {
    const { account = accounts[0]?.name, gauges } = query;
    yield* sourceProblems(file, query, 'queries', ['queries', index]);
    for (const { name, unit } of gauges) {
      const before = units.get(name) ?? unit;
      units.set(name, before);
      const isTaken = taken.size === taken.add(JSON.stringify([account, name])).size;
      const problems = [
        ...(ofMetrics.has(name) ? ['is also one of "metrics"'] : []),
        ...(isTaken ? ['is there already in the account'] : []),
        ...(before === unit ? [] : [`has two units: ${before} before, ${unit} here`]),
      ];
      for (const problem of problems.slice(0, 1)) {
        yield [['queries', index, 'as'], `the gauge "${name}" ${problem}`, 'choose another name'];
      }
    }
  }
}

function* sourceProblems(
  { accounts }: FileConfig,
  { account: name = accounts[0]?.name }: { readonly account?: string },
  what: string,
  path: readonly PropertyKey[],
): Iterable<Found> {
  if (accounts.find((account) => account.name === name)?.source !== 'rest') return;
  const message = `there are ${what} only with "source: nerdgraph", and the account "${name}" has "source: rest"`;
  yield [path, message, 'write "source: nerdgraph" and "account_id" in that account'];
}
