import type { TimeWindow } from '../../../src/model/window.ts';
import type { Transport } from '../../../src/newrelic/calls/transport.ts';
import { applicationFacets, hostFacets } from '../../../src/newrelic/nerdgraph/nrql.ts';
import { nrqlAnswer, nrqlPart } from './answers.ts';

/** What a query about applications or hosts asks. */
export interface AskedNrql {
  readonly subject: 'applications' | 'hosts';
  readonly ids: readonly string[];
  readonly nrql: string;
  readonly window: TimeWindow;
  /** Whether the answer may have a row about this host. */
  readonly asksFor: (host: string) => boolean;
}

/** A row: so many heartbeats, and calls of each column. */
export interface VendorRow {
  readonly id: string;
  readonly host?: string;
  readonly live?: number;
  readonly cells?: readonly unknown[];
}

/** A vendor that answers queries with rows, perhaps about another window, or not at all. */
export function answering(
  answer: (asked: AskedNrql) => readonly VendorRow[] | Error,
  moved: (asked: AskedNrql) => TimeWindow = ({ window }) => window,
): Transport {
  return async ({ body = '' }, signal) => {
    signal.throwIfAborted();
    const asked = askedIn(body);
    const rows = answer(asked);
    if (rows instanceof Error) throw rows;
    const isOfHosts = asked.subject === 'hosts';
    const documents = rows.map(({ id, host, live = 0, cells = [] }) => ({
      facet: isOfHosts ? [id, host] : id,
      calls: [live, ...cells].reduce((sum: number, cell) => sum + (Number(cell) || 0), 0),
      live,
      ...Object.fromEntries(cells.map((cell, at) => [`c${at + 1}`, cell])),
    }));
    const calls = documents.map((row) => Math.max(0, row.calls));
    const { fromMs, toMs } = moved(asked);
    const timeWindow = { begin: fromMs, end: toMs };
    const metadata = {
      facets: isOfHosts ? hostFacets : applicationFacets,
      messages: [],
      timeWindow,
    };
    const all = documents.map((row, at) => ({ ...row, calls: calls[at] }));
    return nrqlAnswer(nrqlPart(all, { metadata }));
  };
}

function askedIn(body: string): AskedNrql {
  const { nrql } = (JSON.parse(body) as { variables: { nrql: string } }).variables;
  const [, ids = ''] = /appId IN \(([^)]*)\)/u.exec(nrql) ?? [];
  const [, fromMs, toMs] = /SINCE (\d+) UNTIL (\d+)/u.exec(nrql) ?? [];
  const conditions = Array.from(
    nrql.matchAll(/host (NOT )?RLIKE r'([^']*)'/gu),
    ([, not, text]) => ({
      isWanted: not === undefined,
      pattern: new RegExp(`^(?:${text})$`, 'u'),
    }),
  );
  return {
    subject: nrql.includes('FACET appId, host') ? 'hosts' : 'applications',
    ids: ids.split(','),
    nrql,
    window: { fromMs: Number(fromMs), toMs: Number(toMs) },
    asksFor: (host) => conditions.every(({ isWanted, pattern }) => pattern.test(host) === isWanted),
  };
}

/** What the vendor has for one query. */
export type Answer = readonly VendorRow[] | Error;

/** Answers for applications, and for their hosts. */
export function apart(applications: Answer, hosts: Answer = []): (asked: AskedNrql) => Answer {
  return ({ subject }) => (subject === 'hosts' ? hosts : applications);
}

/** Of the application 1: calls of web and of others, and heartbeats. */
export const row = (web: unknown, other: unknown = 0, live = 0): VendorRow => ({
  id: '1',
  live,
  cells: [web, other],
});
export const ofHost = (host: string, ...counts: Parameters<typeof row>): VendorRow => ({
  ...row(...counts),
  host,
});
