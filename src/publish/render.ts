import { labelValueOf, mayBeAltered } from '../model/label-value.ts';
import type { AppSnapshot, QuerySnapshot } from '../model/snapshot.ts';

/** Labels in the order in which they are printed. */
export type Labels = readonly (readonly [name: string, value: string])[];

/** One series of a family: its labels as `renderLabels` gives them, and its value. */
export interface Sample {
  /** Those of its host, which are printed first; empty for none. */
  readonly host?: string;
  readonly labels: string;
  /** In place of the shared labels after its own. */
  readonly after?: string;
  readonly value: number;
}

/** Rendered labels that all series of a family share, printed before and after their own. */
export interface SharedLabels {
  readonly before: string;
  readonly after: string;
}

/** A gauge: its name, its help, and how what is published becomes samples. */
export interface Family<Of> extends FamilyHead {
  /** Whether its samples describe hosts instead of the application itself. */
  readonly isOfHosts?: boolean;
  readonly samplesOf: (published: Of, hostLabelsOf: HostLabelsOf) => Iterable<Sample>;
}

export interface FamilyHead {
  readonly name: string;
  readonly help: string;
}

export type HostLabelsOf = (hostId: string) => string;

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

/** Labels of a series, and those that it shares with others: of two with one name its own wins. */
export function renderBeside(
  own: Labels,
  shared: AppSnapshot['labels'] = {},
): Pick<Sample, 'labels' | 'after'> {
  const names = new Set(own.map(([name]) => name));
  const others = Object.entries(shared).filter(([name]) => !names.has(name));
  return { labels: renderLabels(own), after: renderLabels(others) };
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
  for (const { host = '', labels, after = shared.after, value } of samples) {
    const all = joinedLabels(joinedLabels(joinedLabels(shared.before, host), labels), after);
    text += all === '' ? `${name} ${value}\n` : `${name}{${all}} ${value}\n`;
  }
  return text;
}

function joinedLabels(left: string, right: string): string {
  return left === '' || right === '' ? left + right : `${left},${right}`;
}

/** The series of one application or query, or of an account itself, as text: immutable, replaced as a whole. */
export interface RenderedSubject {
  /** The labels that all its series share. Two subjects with the same identity would collide. */
  readonly identity: string;
  /** The families that it may have lines of, in the order of the page. */
  readonly families: readonly FamilyHead[];
  /**
   * Its lines, family after family. Nobody writes to it. One buffer for each family would take as much
   * memory again as the lines of an application with few hosts.
   */
  readonly bytes: Buffer;
  /** Where the lines of each family end. */
  readonly ends: readonly number[];
  readonly series: number;
  /** Series left out because another one had the same labels. */
  readonly duplicates: number;
  /** Series left out because there are too many. */
  readonly leftOut: number;
}

function sharedLabelsOf({ account, application, labels }: AppSnapshot): SharedLabels {
  return {
    before: renderLabels([
      ['account', account],
      ['app_id', application.id],
      ['app_name', application.name],
    ]),
    after: renderLabels(Object.entries(labels)),
  };
}

/** Renders the labels of each host once, however many gauges it has. */
function hostLabelsFrom(hostNames: AppSnapshot['hostNames']): HostLabelsOf {
  const known = new Map<string, string>();
  return (hostId) => {
    const before = known.get(hostId);
    if (before !== undefined) return before;
    const name = hostNames.get(hostId);
    const labels = renderLabels([
      ['host_id', hostId],
      ['host_name', name === undefined || name === '' ? hostId : name],
    ]);
    known.set(hostId, labels);
    return labels;
  };
}

/** Lines per string: strings of megabytes are garbage of megabytes, and take twice as long. */
const pieceLength = 256;

/** Leaves out every sample whose labels an earlier one has. */
function linesOf(name: string, shared: SharedLabels, samples: Iterable<Sample>) {
  // Unaltered labels differ because their originals do. Only the others need a comparison.
  const seen = new Set<string>();
  const parts: Buffer[] = [];
  let piece: Sample[] = [];
  let series = 0;
  let duplicates = 0;
  const flush = (): void => {
    parts.push(Buffer.from(renderSamples(name, shared, piece)));
    series += piece.length;
    piece = [];
  };
  for (const sample of samples) {
    const { host = '', labels } = sample;
    const isCompared = mayBeAltered(host) || mayBeAltered(labels);
    if (isCompared && seen.size === seen.add(`${host},${labels}`).size) duplicates += 1;
    else if (piece.push(sample) === pieceLength) flush();
  }
  flush();
  return { parts, series, duplicates };
}

/**
 * Renders all that is published of one application.
 *
 * @param families the families that it may have lines of, in the order of the page
 */
export function renderApplication(
  snapshot: AppSnapshot,
  families: readonly Family<AppSnapshot>[],
): RenderedSubject {
  const shown = families.map((family) =>
    family.isOfHosts === true || !snapshot.hostsOnly ? family : { ...family, samplesOf: () => [] },
  );
  const hostLabelsOf = hostLabelsFrom(snapshot.hostNames);
  return { ...rendered(snapshot, shown, sharedLabelsOf(snapshot), hostLabelsOf), families };
}

/** The same for a query. */
export function renderQuery(
  snapshot: QuerySnapshot,
  families: readonly Family<QuerySnapshot>[],
): RenderedSubject {
  const { query, reading } = snapshot;
  const after = renderLabels(Object.entries(query.accountLabels ?? {}));
  const own = rendered(snapshot, families, { before: accountLabel(query.account), after });
  const identity = `${own.identity} query ${query.name}`;
  return { ...own, identity, leftOut: reading?.leftOut ?? 0 };
}

/** `newrelic_up` of an account. */
export function renderUp(
  account: string,
  up: boolean,
  families: readonly Family<boolean>[],
): RenderedSubject {
  return rendered(up, families, { before: accountLabel(account), after: '' });
}

function accountLabel(account: string): string {
  return renderLabels([['account', account]]);
}

function rendered<Of>(
  published: Of,
  families: readonly Family<Of>[],
  shared: SharedLabels,
  hostLabelsOf: HostLabelsOf = () => '',
): RenderedSubject {
  const parts: Buffer[] = [];
  const ends: number[] = [];
  const sums = { series: 0, duplicates: 0, leftOut: 0 };
  const identity = `${shared.before} ${shared.after}`;
  let end = 0;
  for (const { name, samplesOf } of families) {
    const lines = linesOf(name, shared, samplesOf(published, hostLabelsOf));
    parts.push(...lines.parts);
    end += lines.parts.reduce((sum, { length }) => sum + length, 0);
    ends.push(end);
    sums.series += lines.series;
    sums.duplicates += lines.duplicates;
  }
  // In memory of its own: from Node's pool, a few bytes would keep as many of others alive.
  const bytes = Buffer.allocUnsafeSlow(end);
  let copied = 0;
  for (const part of parts) copied += part.copy(bytes, copied);
  return { identity, families, bytes, ends, ...sums };
}
