import type { TransactionType } from './application.ts';
import type { ValueName } from './vendor-value.ts';

/** Where the value of a series comes from. */
export interface VendorMetric {
  /** New Relic's name of the metric, such as `HttpDispatcher`. */
  readonly metric: string;
  readonly value: ValueName;
}

export interface PresetGauge {
  /** What follows `newrelic_application_` and `newrelic_application_host_`. */
  readonly name: string;
  /** Help without a subject: a noun phrase that continues with "of the application …". */
  readonly help: string;
  /** The same for the gauge of hosts, if that differs. */
  readonly hostHelp?: string;
  /** One for each transaction type, or one for all transactions together. */
  readonly sources:
    | Readonly<Record<TransactionType, VendorMetric>>
    | { readonly all: VendorMetric };
}

/** The sets of gauges that a configuration can ask for by name, in the order of the page. */
export const presetNames = [
  'throughput',
  'response_time',
  'errors',
  'apdex',
  'database',
  'external',
  'memory',
  'cpu',
] as const;

export type PresetName = (typeof presetNames)[number];

export const transactionMetrics: Readonly<Record<TransactionType, string>> = {
  web: 'HttpDispatcher',
  other: 'OtherTransaction/all',
};

function byTransaction(value: ValueName): Readonly<Record<TransactionType, VendorMetric>> {
  const { web, other } = transactionMetrics;
  return { web: { metric: web, value }, other: { metric: other, value } };
}

function ofDatabase(value: ValueName): Readonly<Record<TransactionType, VendorMetric>> {
  return {
    web: { metric: 'Datastore/allWeb', value },
    other: { metric: 'Datastore/allOther', value },
  };
}

/** The gauges of each preset, and the metric and the value of New Relic behind each of them. */
export const presets: Readonly<Record<PresetName, readonly PresetGauge[]>> = {
  throughput: [
    {
      name: 'requests_per_minute',
      help: 'Average requests per minute',
      sources: byTransaction('requests_per_minute'),
    },
  ],
  response_time: [
    {
      name: 'response_time_seconds',
      help: 'Average response time',
      sources: byTransaction('average_response_time'),
    },
  ],
  errors: [
    {
      name: 'errors_per_minute',
      help: 'Average errors per minute',
      sources: {
        web: { metric: 'Errors/allWeb', value: 'errors_per_minute' },
        other: { metric: 'Errors/allOther', value: 'errors_per_minute' },
      },
    },
  ],
  apdex: [
    {
      name: 'apdex_score',
      help: 'Apdex score, 0 to 1,',
      sources: { all: { metric: 'Apdex', value: 'score' } },
    },
  ],
  database: [
    {
      name: 'database_calls_per_minute',
      help: 'Average database calls per minute',
      sources: ofDatabase('requests_per_minute'),
    },
    {
      name: 'database_response_time_seconds',
      help: 'Average time of a database call',
      sources: ofDatabase('average_response_time'),
    },
  ],
  external: [
    {
      name: 'external_calls_per_minute',
      help: 'Average calls of external services per minute',
      sources: { all: { metric: 'External/all', value: 'requests_per_minute' } },
    },
    {
      name: 'external_response_time_seconds',
      help: 'Average time of a call of an external service',
      sources: { all: { metric: 'External/all', value: 'average_response_time' } },
    },
  ],
  memory: [
    {
      name: 'memory_used_bytes',
      help: 'Average physical memory in use by a host',
      hostHelp: 'Average physical memory in use',
      sources: { all: { metric: 'Memory/Physical', value: 'used_bytes_by_host' } },
    },
  ],
  cpu: [
    {
      name: 'cpu_usage_ratio',
      help: 'Average CPU time in use, 1 being one core,',
      sources: { all: { metric: 'CPU/User Time', value: 'percent' } },
    },
  ],
};
