import type { AccountStatus } from '../model/telemetry.ts';

/**
 * A gauge that is 1 for each element of a list of every account. It is rendered here and only after a list
 * has changed: with ten thousand elements prom-client would block everything else for 40 ms in each scrape.
 */
export interface MissingFamily<Account> {
  readonly name: string;
  /** The family in text format 0.0.4, byte for byte as prom-client prints it. */
  text(accounts: readonly Account[]): string;
}

type Labels = Readonly<Record<string, string>>;

interface FamilyOptions<Account, Element> {
  readonly name: string;
  readonly help: string;
  /** The same array as long as nothing in it changes. */
  readonly listOf: (account: Account) => readonly Element[];
  /** The labels of an element, beside `account`. */
  readonly labelsOf: (element: Element) => Labels;
  /** Elements of one account that are shown at most. */
  readonly most: number;
}

interface Rendered<Element> {
  readonly list: readonly Element[];
  readonly lines: string;
}

function createMissingFamily<Account extends Pick<AccountStatus, 'name'>, Element>({
  name,
  help,
  listOf,
  labelsOf,
  most,
}: FamilyOptions<Account, Element>): MissingFamily<Account> {
  const header = `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;
  let renderedByAccount: ReadonlyMap<string, Rendered<Element>> = new Map();
  let last = { lines: [] as readonly string[], text: header };

  const render = (account: Account): Rendered<Element> => {
    const list = listOf(account);
    const shown = list.length > most ? list.slice(0, most) : list;
    const lines = new Set<string>();
    for (const element of shown) {
      lines.add(`${name}{${labelText({ account: account.name, ...labelsOf(element) })}} 1\n`);
    }
    return { list, lines: [...lines].join('') };
  };

  return {
    name,
    text: (accounts) => {
      renderedByAccount = new Map(
        accounts.map((account) => {
          const known = renderedByAccount.get(account.name);
          return [account.name, known?.list === listOf(account) ? known : render(account)];
        }),
      );
      const lines = Array.from(renderedByAccount.values(), (rendered) => rendered.lines);
      const isSame =
        lines.length === last.lines.length && lines.every((text, at) => text === last.lines[at]);
      if (!isSame) last = { lines, text: header + lines.join('') };
      return last.text;
    },
  };
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabelValue(value)}"`)
    .join(',');
}

function escapeLabelValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

/** The entries that choose nothing: all of them. */
export function createMissingEntries(): MissingFamily<
  Pick<AccountStatus, 'name' | 'missingSelectors'>
> {
  return createMissingFamily({
    name: 'newrelic_exporter_app_missing',
    help: '1 for an entry of the configuration that matches nothing in the account.',
    listOf: ({ missingSelectors }) => missingSelectors,
    labelsOf: (selector) => ({ selector }),
    most: Number.POSITIVE_INFINITY,
  });
}

/** One mistake in `poll.metrics` is one in each of ten thousand entries. */
const mostMetrics = 1000;
/** A preset may have several metrics, and a configuration may name any. */
const longestMetric = 256;

/** The metrics that no application of their entry has sent. */
export function createMissingMetrics(): MissingFamily<
  Pick<AccountStatus, 'name' | 'missingMetrics'>
> {
  return createMissingFamily({
    name: 'newrelic_exporter_metric_missing',
    help: '1 for a metric of an entry of the configuration that none of its applications has ever sent; at most 1000 in each account.',
    listOf: ({ missingMetrics }) => missingMetrics,
    labelsOf: ({ selector, name, metric, value }) => ({
      selector,
      name,
      metric: metric.slice(0, longestMetric),
      value,
    }),
    most: mostMetrics,
  });
}
