import { hostGaugeName } from '../model/polled-series.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import { derivedLabelProblems } from './label-fields.ts';
import { accountsOf, type FileConfig } from './schema.ts';
import type { At } from './yaml-node.ts';

/** What only accounts with NerdGraph can have: tags beside other labels, and queries beside other gauges. */
export function nerdgraphProblems(file: FileConfig, at: At): readonly Problem[] {
  return [...tagProblems(file), ...queryProblems(file)].map(([path, message, help]) =>
    errorAt((at(...path) ?? at('poll', 'tags'))?.span, message, help),
  );
}

const sourceHelp = 'write "source: nerdgraph" and "account_id" in that account';

type Found = readonly [path: readonly PropertyKey[], message: string, help: string];

function* tagProblems({ accounts, apps, poll }: FileConfig): Iterable<Found> {
  for (const [index, app] of apps.entries()) {
    const { exclude, tags = poll.tags, metrics = poll.metrics } = app;
    if (exclude || Object.keys(tags).length === 0) continue;
    const path = ['apps', index, 'tags'];
    yield* sourceProblems('tags', path, app.account ?? accounts[0]?.name, accounts);
    const others = [app, ...metrics].flatMap((one) => {
      const labels = typeof one === 'string' ? [] : Object.keys(one.labels);
      const where = typeof one === 'object' && 'as' in one ? `the metric "${one.as}"` : '"labels"';
      return labels.map((label) => [label, `in ${where}`] as const);
    });
    const kept = { key: 'tags', kept: tags, others };
    for (const { message, help } of derivedLabelProblems(Object.entries(tags), kept)) {
      yield [path, `"tags" ${message}`, help];
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
    const accounts = accountsOf(query, file.accounts);
    for (const [order, account] of accounts.entries()) {
      const place = Array.isArray(query.account) ? ['account', order] : [];
      yield* sourceProblems('queries', ['queries', index, ...place], account, file.accounts);
    }
    if (accounts.length === 0) {
      const message = '"account" is "*", and no account has "source: nerdgraph"';
      yield [['queries', index, 'account'], message, sourceHelp];
    }
    for (const { name, unit } of query.meaning.gauges) {
      const before = units.get(name) ?? unit;
      units.set(name, before);
      const series = accounts.map((account) => JSON.stringify([account, name]));
      const isTaken = series.some((one) => taken.has(one));
      for (const one of series) taken.add(one);
      let problem = before === unit ? '' : `has two units: ${before} before, ${unit} here`;
      if (isTaken) problem = 'is there already in the account';
      if (ofMetrics.has(name)) problem = 'is also one of "metrics"';
      const message = `the gauge "${name}" ${problem}`;
      if (problem !== '') yield [['queries', index, 'as'], message, 'choose another name'];
    }
  }
}

function* sourceProblems(
  what: string,
  path: readonly PropertyKey[],
  account: string | undefined,
  accounts: FileConfig['accounts'],
): Iterable<Found> {
  const found = accounts.find(({ name }) => name === account);
  if (found?.source !== 'rest') return;
  const message = `there are ${what} only with "source: nerdgraph", and the account "${found.name}" has "source: rest"`;
  yield [path, message, sourceHelp];
}
