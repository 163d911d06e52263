import type { Row } from './dashboard.ts';
import { accountUp, countOf, exporterUp, stale } from './known.ts';
import { type DashboardName, toTable } from './links.ts';
import { anyApp, perApp, type Selector } from './selectors.ts';
import { tile } from './tile.ts';

/** The first row of every dashboard: numbers that are 0 if all is well, by the alerts' own expressions. */
export function troubleRow(select: Selector, from: DashboardName): Row {
  return {
    title: 'Trouble',
    panels: [
      tile({
        title: 'Exporters down',
        description:
          'Exporters that Prometheus cannot scrape. "no data": it knows no exporter at all. A click names them.',
        unit: 'none',
        thresholds: [[1, 'red']],
        links: [toTable('exporters', from)],
        queries: [{ expr: countOf(`${exporterUp} == 0`, exporterUp) }],
      }),
      tile({
        title: 'Accounts failing',
        description:
          'Accounts whose applications could not be listed at the last attempt, because of the key for example, and accounts whose exporters are all down. A click names them.',
        unit: 'none',
        thresholds: [[1, 'red']],
        links: [toTable('accounts', from)],
        queries: [{ expr: countOf(`${accountUp} == 0`, accountUp) }],
      }),
      tile({
        title: 'Polls failing',
        description:
          'Applications whose last poll did not get all that was asked for. Failed polls of sidecars are on the dashboard of the exporter. A click names the applications.',
        unit: 'none',
        thresholds: [[1, 'orange']],
        links: [toTable('applications', from)],
        queries: [
          {
            expr: countOf(
              `${perApp(select('newrelic_application_poll_success'))} == 0`,
              anyApp(select),
            ),
          },
        ],
      }),
      tile({
        title: 'Values stale',
        description:
          'Applications whose last complete poll is more than three poll intervals ago, or that have failed for longer than stale_after, also because their exporter is down. A click names them.',
        unit: 'none',
        thresholds: [[1, 'orange']],
        links: [toTable('applications', from)],
        queries: [{ expr: countOf(stale(select), anyApp(select)) }],
      }),
    ],
  };
}
