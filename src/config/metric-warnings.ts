import type { AppEntry, PatternSource, PlainConfig } from '../model/config.ts';
import { metricGroupsOf } from '../model/metric-groups.ts';
import { isReadOf, type PolledSeries, seriesOf } from '../model/polled-series.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import { unitText, wrongEndingOf } from './gauge-unit.ts';
import type { At, Located } from './located.ts';
import { type FileMetric, metricChoiceOf } from './metric-schema.ts';
import type { FileConfig } from './schema.ts';

/** A list of metrics of the file, and its place. */
interface PlacedList {
  readonly metrics: readonly FileMetric[];
  readonly located: Located;
  readonly path: readonly PropertyKey[];
}

/** Every list of the file once: with aliases thousands of entries have the same. */
function listsOf({ poll, apps }: FileConfig, at: At): readonly PlacedList[] {
  const all = [
    { metrics: poll.metrics, path: ['poll', 'metrics'] },
    ...apps.map(({ metrics = [] }, index) => ({ metrics, path: ['apps', index, 'metrics'] })),
  ];
  const lists = new Map<Located, PlacedList>();
  for (const { metrics, path } of all) {
    const located = at(...path);
    if (located !== undefined) lists.set(located, { metrics, located, path });
  }
  return [...lists.values()];
}

interface Calls {
  readonly application: number;
  readonly host: number;
}

function callsFor(what: 'applications' | 'hosts', series: readonly PolledSeries[]): number {
  return metricGroupsOf(series.filter((one) => isReadOf(what, one))).length;
}

/** The calls of an entry for an application and for a host; the same series are counted once. */
function createCallsOf(): (entry: AppEntry<PatternSource>) => Calls {
  const known = new Map<readonly PolledSeries[], Calls>();
  return ({ series, application, hosts }) => {
    const calls = known.get(series) ?? {
      application: callsFor('applications', series),
      host: callsFor('hosts', series),
    };
    known.set(series, calls);
    return {
      application: application ? calls.application : 0,
      host: hosts === false ? 0 : calls.host,
    };
  };
}

function callsText({ application, host }: Calls, what: string): string | undefined {
  if (application <= 1) {
    return host <= 1 ? undefined : `${host} calls instead of 1 for each host of ${what}`;
  }
  const calls = `${application} calls instead of 1 for ${what}`;
  if (host <= 1) return calls;
  return `${calls} and ${host === application ? '' : `${host} `}for each of its hosts`;
}

/** The most calls that a list costs an entry. */
interface ListCalls extends Calls {
  /** Whether the list serves one application only, as far as the file tells. */
  readonly isOfOne: boolean;
}

function withMore(one: Calls, other: Calls): ListCalls {
  return {
    application: Math.max(one.application, other.application),
    host: Math.max(one.host, other.host),
    isOfOne: false,
  };
}

/** What the lists cost in the entries whose account is polled with the REST API. */
function restCalls({ accounts, apps }: PlainConfig, at: At): ReadonlyMap<Located, ListCalls> {
  const rest = new Set(
    accounts.filter(({ source }) => source.kind === 'rest').map(({ name }) => name),
  );
  const callsOf = createCallsOf();
  const lists = new Map<Located, ListCalls>();
  for (const [index, entry] of apps.entries()) {
    const own = at('apps', index, 'metrics');
    const list = own ?? at('poll', 'metrics');
    if (list === undefined || !rest.has(entry.account)) continue;
    const isOfOne = own !== undefined && entry.selector.kind !== 'match';
    const calls: ListCalls = { ...callsOf(entry), isOfOne };
    const before = lists.get(list);
    lists.set(list, before === undefined ? calls : withMore(before, calls));
  }
  return lists;
}

/** Metrics whose names and values are too long for one URL of the REST API. */
function furtherCalls(config: PlainConfig, at: At): readonly Problem[] {
  return [...restCalls(config, at)].flatMap(([{ span }, calls]) => {
    const text = callsText(calls, calls.isOfOne ? 'the application' : 'each application');
    if (text === undefined) return [];
    const message = `the names and values of the metrics do not fit into one call: a poll takes ${text}`;
    const help = 'leave some of them out, or use "source: nerdgraph", which has no such limit';
    return [warningAt(span, message, help)];
  });
}

/** The unit does not depend on them. */
const noHelps: ReadonlyMap<string, string> = new Map();

/** Names that state another unit than the values have. */
function wrongEndings({ metrics, path }: PlacedList, at: At): readonly Problem[] {
  return metrics.flatMap((metric, index) => {
    if (typeof metric === 'string') return [];
    return seriesOf([metricChoiceOf(metric, noHelps)], []).flatMap((series) => {
      const wrong = wrongEndingOf(series);
      if (wrong === undefined) return [];
      const { ending, rightName, rightScale } = wrong;
      const message = `"as" ends in "${ending}", but the values are ${unitText(series)}`;
      const remedies = [
        ...(rightName === undefined ? [] : [`"as: ${rightName}"`]),
        ...(rightScale === undefined ? [] : [`"scale: ${rightScale}"`]),
      ];
      const help = remedies.length === 0 ? undefined : `write ${remedies.join(' or ')}`;
      return [warningAt(at(...path, index, 'as')?.span, message, help)];
    });
  });
}

/** Metrics of an entry's own list of what the entry leaves out. */
function unreadMetrics({ apps }: FileConfig, at: At): readonly Problem[] {
  return apps.flatMap(({ metrics = [], application, hosts }, index) =>
    metrics.flatMap((metric, place) => {
      if (typeof metric === 'string') return [];
      const off =
        (metric.for === 'hosts' && hosts === false && 'hosts') ||
        (metric.for === 'applications' && !application && 'application');
      if (off === false) return [];
      const message = `"for: ${metric.for}" is never read with "${off}: false"`;
      const span = at('apps', index, 'metrics', place, 'for')?.span;
      return [warningAt(span, message, 'leave the metric out')];
    }),
  );
}

function unusedList({ apps }: FileConfig, at: At): readonly Problem[] {
  const list = at('poll', 'metrics');
  if (list === undefined || apps.some(({ metrics }) => metrics === undefined)) return [];
  const message = '"metrics" has no effect here: every entry of apps has its own';
  return [warningAt(list.span, message, 'leave it out')];
}

/** Lists of metrics that are allowed but cost more, say something else or do less than one expects. */
export function metricWarnings(file: FileConfig, config: PlainConfig, at: At): readonly Problem[] {
  return [
    ...furtherCalls(config, at),
    ...listsOf(file, at).flatMap((list) => wrongEndings(list, at)),
    ...unreadMetrics(file, at),
    ...unusedList(file, at),
  ];
}
