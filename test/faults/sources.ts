import type { AccountSource } from '../../src/model/config.ts';
import type { FaultCondition } from '../../src/simulator/fault-rule.ts';
import type { JournalEntry } from '../../src/simulator/journal.ts';
import type { anEntry } from '../support/builders.ts';

/** One of the two APIs, and how the tests of both speak of its calls. */
export interface FaultSource {
  readonly name: 'by the REST API' | 'by NerdGraph';
  readonly account: AccountSource;
  /** The calls of a discovery, and of a poll of an application with two hosts. */
  readonly calls: { readonly discovery: number; readonly poll: number };
  /** The calls for the list of applications. */
  readonly lists: FaultCondition;
  /** The calls for values of an application that is asked for alone. */
  pollsOf(applicationId: string): FaultCondition;
  /** One of several calls for values of `shop`, in each poll. */
  readonly onePart: FaultCondition;
  /** Entries with which `shop` and `worker` are asked for in calls of their own. */
  readonly apart: readonly NonNullable<Parameters<typeof anEntry>[0]>[];
  /**
   * The windows that polls of this application asked for, and when. One of each poll, of the
   * application itself.
   */
  windowsOf(applicationId: string, entries: readonly JournalEntry[]): readonly AskedWindow[];
  /** The same of all calls for values. */
  allWindows(entries: readonly JournalEntry[]): readonly AskedWindow[];
}

/** What a call for values was about. */
export interface AskedWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly atMonotonicMs: number;
  /** How long before the vendor's time the window ended. */
  readonly ageMs: number;
}

/** NaN for a time that does not say that it is UTC. */
function utcMs(text: string): number {
  return text.endsWith('Z') ? Date.parse(text) : Number.NaN;
}

const restWindow = ({ query, wallMs, monotonicMs }: JournalEntry): AskedWindow => {
  const parameters = new URLSearchParams(query);
  const fromMs = utcMs(parameters.get('from') ?? '');
  const toMs = utcMs(parameters.get('to') ?? '');
  return { fromMs, toMs, atMonotonicMs: monotonicMs, ageMs: wallMs - toMs };
};

const rest: FaultSource = {
  name: 'by the REST API',
  account: { kind: 'rest', accountId: undefined },
  calls: { discovery: 2, poll: 3 },
  lists: { endpoints: ['applications'] },
  pollsOf: (applicationId) => ({
    endpoints: ['application_metrics', 'host_metrics'],
    applicationId,
  }),
  onePart: { applicationId: '101', hostId: '1011' },
  apart: [{}],
  windowsOf: (applicationId, entries) =>
    entries
      .filter(({ path }) => path === `/v2/applications/${applicationId}/metrics/data.json`)
      .map(restWindow),
  allWindows: (entries) =>
    entries.filter(({ path }) => path.endsWith('/metrics/data.json')).map(restWindow),
};

/** The window of each query for calls. */
function nrqlWindows({ graphql, wallMs, monotonicMs }: JournalEntry): readonly NrqlWindow[] {
  return (graphql?.asks ?? []).flatMap(({ text }) => {
    const [, fromText, toText] = / SINCE (\d+) UNTIL (\d+)$/u.exec(text) ?? [];
    const [fromMs, toMs] = [Number(fromText), Number(toText)];
    if (Number.isNaN(fromMs)) return [];
    return [{ text, fromMs, toMs, atMonotonicMs: monotonicMs, ageMs: wallMs - toMs }];
  });
}

interface NrqlWindow extends AskedWindow {
  readonly text: string;
}

function isAbout(text: string, applicationId: string): boolean {
  const [, ids = ''] = /appId IN \(([\d,]+)\)/u.exec(text) ?? [];
  return ids.split(',').includes(applicationId);
}

const nerdGraph: FaultSource = {
  name: 'by NerdGraph',
  account: { kind: 'nerdgraph', accountId: 1_234_567 },
  calls: { discovery: 1, poll: 2 },
  lists: { operation: 'entity_search' },
  pollsOf: (applicationId) => ({
    operation: 'nrql',
    queryIncludes: `appId IN (${applicationId}) AND`,
  }),
  onePart: {
    operation: 'nrql',
    queryIncludes:
      "appId IN (101) AND metricTimesliceName IN ('HttpDispatcher','OtherTransaction/all','Agent/MetricsReported/count') FACET appId, host LIMIT",
  },
  // Queries with another delay are queries of their own.
  apart: [
    { selector: { kind: 'match', pattern: /^shop$/u } },
    { selector: { kind: 'match', pattern: /^worker$/u }, poll: { delayMs: 240_000 } },
  ],
  windowsOf: (applicationId, entries) =>
    entries
      .flatMap(nrqlWindows)
      .filter(({ text }) => isAbout(text, applicationId) && !/FACET appId, host/u.test(text)),
  allWindows: (entries) => entries.flatMap(nrqlWindows),
};

/** For `describe.each`: what is true of the daemon is true with both. */
export const sources: readonly FaultSource[] = [rest, nerdGraph];

/** For what only NerdGraph has. */
export const byNerdGraph: FaultSource = nerdGraph;
