import { hostGaugeName } from '../model/polled-series.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import { derivedLabelProblem } from './label-fields.ts';
import type { FileConfig } from './schema.ts';
import type { At } from './yaml-node.ts';

/** What only accounts with NerdGraph can have: tags beside other labels, and queries beside other gauges. */
export function nerdgraphProblems(file: FileConfig, at: At): readonly Problem[] {
  // Once, though each entry may have the tags of "poll".
  const found = new Map<string, Problem>();
  for (const [path, message, help] of [...tagProblems(file), ...queryProblems(file)]) {
    const span = (at(...path) ?? at('poll', 'tags'))?.span;
    found.set(`${span?.start} ${message}`, errorAt(span, message, help));
  }
  return [...found.values()];
}

type Found = readonly [path: readonly PropertyKey[], message: string, help: string];

function* tagProblems({ accounts, apps, poll }: FileConfig): Iterable<Found> {
  for (const [index, app] of apps.entries()) {
    const { exclude, tags = poll.tags, metrics = poll.metrics } = app;
    if (exclude || Object.keys(tags).length === 0) continue;
    const path = ['apps', index, 'tags'];
    yield* sourceProblems('tags', path, app, accounts);
    const labelled = [app, ...metrics.filter((one) => typeof one !== 'string')];
    const taken = new Set(labelled.flatMap(({ labels }) => Object.keys(labels)));
    for (const tag of Object.entries(tags)) {
      const [message, help] = derivedLabelProblem(tag, taken) ?? [];
      if (help !== undefined) yield [path, `"tags" ${message}`, help];
    }
  }
}

function* queryProblems(file: FileConfig): Iterable<Found> {
  const metrics = [file.poll, ...file.apps].flatMap((one) => one.metrics ?? []);
  const ofMetrics = new Set(
    metrics.flatMap((one) => (typeof one === 'string' ? [] : [one.as, hostGaugeName(one.as)])),
  );
  const units = new Map<string, string>();
  const taken = new Set<string>();
  for (const [index, query] of file.queries.entries()) {
    const { account = file.accounts[0]?.name } = query;
    yield* sourceProblems('queries', ['queries', index], query, file.accounts);
    for (const { name, unit } of query.gauges) {
      const before = units.get(name) ?? unit;
      units.set(name, before);
      const isTaken = taken.size === taken.add(JSON.stringify([account, name])).size;
      let problem = before === unit ? '' : `has two units: ${before} before, ${unit} here`;
      if (isTaken) problem = 'is there already in the account';
      if (ofMetrics.has(name)) problem = 'is also one of "metrics"';
      const found = [['queries', index, 'as'], `the gauge "${name}" ${problem}`] as const;
      if (problem !== '') yield [...found, 'choose another name'];
    }
  }
}

function* sourceProblems(
  what: string,
  path: readonly PropertyKey[],
  { account }: { readonly account?: string },
  accounts: FileConfig['accounts'],
): Iterable<Found> {
  const found = accounts.find(({ name }) => name === (account ?? accounts[0]?.name));
  if (found?.source !== 'rest') return;
  const message = `there are ${what} only with "source: nerdgraph", and the account "${found.name}" has "source: rest"`;
  yield [path, message, 'write "source: nerdgraph" and "account_id" in that account'];
}
