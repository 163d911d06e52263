import type { Panel } from './dashboard-files.ts';
import type { OpenDashboard } from './grafana-dashboard.ts';
import { isUnfilled } from './grafana-interpolation.ts';
import type { Shown } from './grafana-panels.ts';
import type { Cell, ShownTable } from './grafana-table.ts';
import { hasAll } from './grafana-variables.ts';

/** Something that people can click on, and what stands there. */
export interface Clickable {
  readonly where: string;
  readonly address: string;
  /** The id of the application, if it is about one. */
  readonly appId: string | undefined;
  readonly account: string | undefined;
  /** The throughput that is shown there; `undefined` where none is shown. */
  readonly throughput: number | undefined;
}

const isThroughput = ({ fieldConfig }: Panel): boolean => fieldConfig?.defaults.unit === 'reqpm';

/** Names of series end with account and id: `shop · main · 1001`. */
function partsOf(name: string): {
  readonly account: string | undefined;
  readonly appId: string | undefined;
} {
  const [, account, appId] = /· ([^·]+) · (\d+)$/u.exec(name) ?? [];
  return { account, appId };
}

function ofTable(title: string, { header, rows }: ShownTable): readonly Clickable[] {
  const cellAt = (row: readonly Cell[], ...columns: readonly string[]): Cell | undefined =>
    row.find((_, column) => columns.includes(header[column] ?? ''));
  return rows.flatMap((row) => {
    const number = cellAt(row, 'Throughput', 'Now')?.value;
    const about = {
      appId: cellAt(row, 'Id')?.text,
      account: cellAt(row, 'Account')?.text,
      throughput: typeof number === 'number' ? number : undefined,
    };
    return row.flatMap(({ text, links }, column) =>
      links.map((address) => ({
        where: `${title}: ${header[column] ?? ''} ${text}`,
        address,
        ...about,
      })),
    );
  });
}

/** Every link of a panel. */
export function clickablesOf(panel: Panel, shown: Shown): readonly Clickable[] {
  const { title } = panel;
  const some = (
    name: string,
    links: readonly string[],
    number: number | undefined,
  ): readonly Clickable[] =>
    links.map((address) => ({
      where: panel.type === 'stat' ? title : `${title}: ${name}`,
      address,
      ...partsOf(name),
      throughput: isThroughput(panel) ? number : undefined,
    }));
  switch (shown.kind) {
    case 'table':
      return ofTable(title, shown);
    case 'tiles':
      return shown.tiles.flatMap(({ name, links, numeric }) => some(name, links, numeric));
    case 'graph':
      // A line may have ended before now: its last value says nothing of the present.
      return shown.lines.flatMap(({ name, links }) => some(name, links, undefined));
    case 'states':
      return shown.rows.flatMap(({ name, links }) => some(name, links, undefined));
  }
}

/** The links beside the title of a dashboard. */
export function linksOf({ links }: OpenDashboard): readonly Clickable[] {
  const about = { appId: undefined, account: undefined, throughput: undefined };
  return links.map(({ title, address }) => ({ where: title, address, ...about }));
}

/** Written out, without regard to the order. */
function parametersOf(address: string): readonly string[] {
  const { searchParams } = new URL(address, 'http://grafana.invalid');
  return [...searchParams].map(([name, value]) => `${name}=${value}`).toSorted();
}

function ownChoices(appId: string | undefined): readonly string[] {
  return appId === undefined ? ['app', 'host', 'transaction_type', 'topn'] : ['app', 'host'];
}

/** What is wrong with an address, for the one who clicks it on `from` and arrives at `to`. */
export function problemsOf(
  { where, address, account, appId }: Omit<Clickable, 'throughput'>,
  from: OpenDashboard,
  to: OpenDashboard,
  sanitizeUrl: (address: string) => string,
): readonly string[] {
  const parameters = new URL(address, 'http://grafana.invalid').searchParams;
  const valueAt = (name: string): string =>
    [to.variables.find((one) => one.name === name)?.value ?? []].flat().join();
  const names = to.variables.map(({ name }) => name);
  const named = [...parameters.keys()]
    .filter((name) => name.startsWith('var-'))
    .map((name) => name.slice(4));
  const problems = [
    isUnfilled(address) ? 'has something left to fill in' : '',
    ...named
      .filter((name) => !names.includes(name))
      .map((name) => `sets ${name}, which is not there`),
    ...names
      .filter((name) => from.variables.some((one) => one.name === name))
      // What a dashboard finds out itself is in no address.
      .filter((name) => !to.variables.some((one) => one.name === name && one.skipUrlSync))
      // What is chosen within a dashboard, only the way from an application to its own hands on.
      .filter((name) => !named.includes(name) && !ownChoices(appId).includes(name))
      .map((name) => `loses ${name}`),
    ...to.variables
      .filter((one) => hasAll(one) && !one.includeAll && one.allValue === undefined)
      .map(({ name }) => `means "All" by ${name}, which has no such choice`),
    ...to.variables
      .filter((one) => !hasAll(one) && one.options.length > 0)
      // What is chosen here may not exist either.
      .filter(
        ({ name, value }) =>
          String(from.variables.find((one) => one.name === name)?.value) !== String(value),
      )
      .filter(
        ({ options, value }) =>
          ![value].flat().every((wanted) => options.some((one) => one.value === wanted)),
      )
      .map(({ name, value }) => `sets ${name} to ${[value].flat().join()}, which does not exist`),
    account === undefined || named.length === 0 || valueAt('account') === account
      ? ''
      : `goes to ${valueAt('account')}`,
    appId === undefined || valueAt('app') === appId
      ? ''
      : `goes to the application ${valueAt('app')}`,
    parameters.has('from') && parameters.has('to') ? '' : 'loses the time range',
    parametersOf(sanitizeUrl(address)).join('&') === parametersOf(address).join('&')
      ? ''
      : 'says something else when decoded',
  ];
  return problems
    .filter((problem) => problem !== '')
    .map((problem) => `${where} ${problem}: ${address}`);
}
