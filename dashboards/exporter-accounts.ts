import type { Row } from './dashboard.ts';
import { yesOrNo } from './mappings.ts';
import { ofAccount } from './selectors.ts';
import { table } from './table.ts';

function perAccount(metric: string, more?: string): string {
  return `max by (cluster, job, instance, account) (${ofAccount(metric, more)})`;
}

export const exporterAccounts: Row = {
  title: 'Accounts',
  panels: [
    table({
      title: 'Accounts',
      description:
        'Each account of each exporter: the applications that New Relic lists, those that are polled, and the API key. After a restart, a key that cannot be read is missing.',
      height: 6,
      labels: {
        account: { title: 'Account' },
        job: { title: 'Job' },
        instance: { title: 'Instance' },
        cluster: { title: 'Cluster' },
      },
      columns: [
        {
          title: 'Listed',
          unit: 'none',
          expr: perAccount('newrelic_exporter_applications', 'state="listed"'),
        },
        {
          title: 'Selected',
          unit: 'none',
          expr: perAccount('newrelic_exporter_applications', 'state="selected"'),
        },
        {
          title: 'Last discovery',
          unit: 'dateTimeFromNow',
          expr: `1000 * ${perAccount('newrelic_exporter_discovery_last_success_timestamp_seconds')}`,
        },
        {
          title: 'Key readable',
          unit: 'none',
          mappings: [yesOrNo],
          expr: perAccount('newrelic_exporter_api_key_readable'),
        },
        {
          title: 'Key since',
          unit: 'dateTimeFromNow',
          expr: `1000 * ${perAccount('newrelic_exporter_api_key_last_change_timestamp_seconds')}`,
        },
      ],
    }),
  ],
};
