import { errorLimit, words } from './colors.ts';
import { type DashboardName, toTable } from './links.ts';
import { type Column, compared, type Panel, tile } from './panel.ts';
import { countOf, inEach, of, type Selector } from './selectors.ts';
import { anyApp, averageOf, averageOrSummary, throughput } from './signals.ts';
import { accountUp, exporterUp, failing, lastSuccess, polled, stale } from './state.ts';

/** The first tiles of every dashboard: numbers that are 0 if all is well, by the alerts' own expressions. */
export function trouble(select: Selector, from: DashboardName): readonly Panel[] {
  const accounts = accountUp('cluster');
  return [
    tile('Exporters down', {
      description:
        'Exporters that Prometheus cannot scrape. "no data": it knows no exporter at all. A click names them.',
      limit: [1, 'red'],
      links: [toTable('exporters', from)],
      shows: countOf(`${exporterUp} == 0`, exporterUp),
    }),
    tile('Accounts failing', {
      description:
        'Accounts whose applications could not be listed at the last attempt, because of the key for example, or, with queries only, whose last two queries failed, and accounts whose exporters are all down. A click names them.',
      limit: [1, 'red'],
      links: [toTable('accounts', from)],
      shows: countOf(`${accounts} == 0`, accounts),
    }),
    tile('Polls failing', {
      description:
        'Applications whose last poll did not get all that was asked for, and sidecars with a failed poll in the last five minutes. A click names the applications, or the sidecars with their accounts.',
      limit: [1, 'orange'],
      links: [toTable('applications', from), toTable('accounts of exporters', from)],
      shows: countOf(failing(select, from === 'application'), anyApp(select)),
    }),
    tile('Values stale', {
      description:
        'Applications whose last complete poll is more than three poll intervals ago, or that have failed for longer than stale_after, also because their exporter is down. Of sidecars it is not known. A click names them.',
      limit: [1, 'orange'],
      mayLack: true,
      links: [toTable('applications', from)],
      shows: countOf(stale(select), polled(select)),
    }),
  ];
}

/** The polls of each account, apart by these labels. Of an account without applications nothing is known. */
export function pollColumns(labels: string): Readonly<Record<string, Column>> {
  const by = `by (${labels}, account)`;
  const known = inEach(labels, polled(of.account));
  const counted = (some: string): Column => ({
    width: 118,
    limit: [1, 'orange'],
    expr: countOf(inEach(labels, some), known, `count ${by}`),
  });
  return {
    'Polls failing': counted(failing(of.account)),
    'Values stale': counted(stale(of.account)),
    'Oldest poll': {
      unit: 'dtdurations',
      decimals: 0,
      width: 95,
      expr: `time() - min ${by} (${inEach(labels, lastSuccess(of.account))})`,
    },
  };
}

/** What users feel, of all selected applications together, with the change against last week. */
export function signalTiles(from: DashboardName): readonly Panel[] {
  const links = [toTable('applications', from)];
  return [
    compared('Throughput now', {
      description:
        'Requests per minute, web and other transactions together. For applications that only sidecars publish, the sum of the hosts.',
      unit: 'reqpm',
      value: (at) => `sum${throughput({ at })}`,
    }),
    compared('Error ratio now', {
      description:
        "Errors per request, of the applications whose errors are read; if they are not, of New Relic's summaries. Orange from 5 % on.",
      unit: 'percentunit',
      decimals: 2,
      difference: [100, 'suffix: pp'],
      limit: [errorLimit, 'orange'],
      links,
      shown: averageOrSummary('error_ratio'),
      value: (at) => averageOf('error_ratio', at),
    }),
    compared('Response time now', {
      description:
        "Average response time, of the applications where it is read; if it is not, of New Relic's summaries. Each counts by its requests.",
      unit: 's',
      shown: averageOrSummary('response_time_seconds'),
      value: (at) => averageOf('response_time_seconds', at),
    }),
    compared('Apdex now', {
      description:
        "Apdex score, 0 to 1, of the applications where it is read; if it is not, of New Relic's summaries. Each counts by its requests. Orange below 0.7.",
      decimals: 2,
      difference: [1, 'none'],
      map: words.poorApdex,
      links,
      shown: averageOrSummary('apdex_score'),
      value: (at) => averageOf('apdex_score', at),
    }),
  ];
}
