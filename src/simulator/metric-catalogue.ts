import { own } from '../model/own.ts';
import { type MetricName, records, type SimulatedApplication } from './simulated-application.ts';

/** Calls that come with those of one type of transactions. */
export interface CallShare {
  readonly source: MetricName;
  /** How many there are for each call of the transactions, on average. */
  readonly perCall: number;
  /** How long one takes, relative to the response time of the application. */
  readonly timeShare: number;
  /** Tells its noise from that of others. */
  readonly salt: number;
}

/** What each host states once a minute: a level between two bounds, which differs by host. */
export interface SampledLevel {
  readonly from: number;
  readonly to: number;
  readonly salt: number;
}

/** A metric of an application, and what its timeslices are made of. */
export type SimulatedMetric =
  | {
      readonly name: string;
      readonly kind: 'calls' | 'errors';
      readonly shares: readonly CallShare[];
    }
  /** `frustrated` and `tolerating` are parts of the web requests. */
  | {
      readonly name: string;
      readonly kind: 'apdex';
      readonly frustrated: number;
      readonly tolerating: number;
    }
  | {
      readonly name: string;
      readonly kind: 'memory' | 'cpu_time' | 'utilization' | 'recorded';
      readonly level: SampledLevel;
    };

export type MetricKind = SimulatedMetric['kind'];

type TypeOfWork = 'web' | 'other';

const sources: Readonly<Record<TypeOfWork, MetricName>> = {
  web: 'HttpDispatcher',
  other: 'OtherTransaction/all',
};

/** What an agent of one language records besides. */
const heapOf: Readonly<Record<string, string>> = { java: 'Memory/Heap/Used' };

/** In CPU seconds a minute: 0.2 to 1.5 cores. */
const cpu: SampledLevel = { from: 12, to: 90, salt: 31 };
/** The hosts have four cores. */
const utilization: SampledLevel = { from: cpu.from / 240, to: cpu.to / 240, salt: cpu.salt };

const sampled: readonly SimulatedMetric[] = [
  { name: 'Memory/Physical', kind: 'memory', level: { from: 200, to: 900, salt: 32 } },
  { name: 'CPU/User Time', kind: 'cpu_time', level: cpu },
  { name: 'CPU/User/Utilization', kind: 'utilization', level: utilization },
  { name: 'Custom/Queue/Depth', kind: 'recorded', level: { from: 0, to: 40, salt: 33 } },
  { name: 'Custom/Cache/Entries', kind: 'recorded', level: { from: 500, to: 20_000, salt: 34 } },
  { name: 'Custom/Basket/Value', kind: 'recorded', level: { from: 20, to: 90, salt: 35 } },
];

/** What each host of a reporting application sends every minute. */
const heartbeat: SimulatedMetric = {
  name: 'Agent/MetricsReported/count',
  kind: 'recorded',
  level: { from: 1, to: 1, salt: 0 },
};

const areas = ['orders', 'customers', 'search', 'basket', 'stock', 'prices', 'mails', 'reports'];
const actions = ['show', 'index', 'create', 'update', 'destroy'];

/** The part of a transaction's name after its type; different for each index. */
export function transactionAt(index: number): string {
  const area = areas[index % areas.length];
  const action = actions[Math.floor(index / areas.length) % actions.length];
  const round = Math.floor(index / (areas.length * actions.length));
  return round === 0 ? `${area}/${action}` : `${area}/${action}/v${round + 1}`;
}

function transactions(count: number, work: TypeOfWork): readonly SimulatedMetric[] {
  const prefix = work === 'web' ? 'WebTransaction/Controller' : 'OtherTransaction/Job';
  return Array.from({ length: count }, (_, index) => ({
    name: `${prefix}/${transactionAt(index)}`,
    kind: 'calls',
    shares: [{ source: sources[work], perCall: 1 / count, timeShare: 1, salt: 100 + index }],
  }));
}

/** One metric for each type of transactions that the application has, and one for all of them. */
function byType(
  kind: 'calls' | 'errors',
  family: string,
  shares: Readonly<Record<TypeOfWork, CallShare>>,
  types: readonly TypeOfWork[],
): readonly SimulatedMetric[] {
  const names = { web: `${family}/allWeb`, other: `${family}/allOther` };
  return [
    { name: `${family}/all`, kind, shares: types.map((type) => shares[type]) },
    ...types.map((type) => ({ name: names[type], kind, shares: [shares[type]] })),
  ];
}

function sharesOf(
  web: Omit<CallShare, 'source'>,
  other: Omit<CallShare, 'source'>,
): Readonly<Record<TypeOfWork, CallShare>> {
  return { web: { source: sources.web, ...web }, other: { source: sources.other, ...other } };
}

const datastore = sharesOf(
  { perCall: 3, timeShare: 0.12, salt: 11 },
  { perCall: 2, timeShare: 0.2, salt: 12 },
);
const external = sharesOf(
  { perCall: 0.5, timeShare: 0.4, salt: 13 },
  { perCall: 0.25, timeShare: 0.3, salt: 14 },
);

function errorsOf(perCall: number): Readonly<Record<TypeOfWork, CallShare>> {
  return sharesOf({ perCall, timeShare: 0, salt: 15 }, { perCall, timeShare: 0, salt: 16 });
}

function ofWeb({ responseTimeMs, errorRatio }: SimulatedApplication): readonly SimulatedMetric[] {
  const queue: CallShare = { source: sources.web, perCall: 1, timeShare: 0.04, salt: 17 };
  return [
    {
      name: 'Apdex',
      kind: 'apdex',
      frustrated: Math.min(0.5, 0.005 + errorRatio),
      tolerating: Math.min(0.3, responseTimeMs / 4000),
    },
    { name: 'WebFrontend/QueueTime', kind: 'calls', shares: [queue] },
  ];
}

/** All that the application has ever recorded. What only transactions have needs some. */
export function metricsOf(application: SimulatedApplication): readonly SimulatedMetric[] {
  const types = (['web', 'other'] as const).filter((type) => records(application, sources[type]));
  const { errorRatio, language, transactionNames } = application;
  const heap = own(heapOf, language);
  return [
    ...types.map(
      (type): SimulatedMetric => ({
        name: sources[type],
        kind: 'calls',
        shares: [{ source: sources[type], perCall: 1, timeShare: 1, salt: type === 'web' ? 1 : 2 }],
      }),
    ),
    ...(errorRatio > 0 ? byType('errors', 'Errors', errorsOf(errorRatio), types) : []),
    ...(types.includes('web') ? ofWeb(application) : []),
    ...byType('calls', 'Datastore', datastore, types),
    { name: 'External/all', kind: 'calls', shares: types.map((type) => external[type]) },
    ...sampled,
    ...(heap === undefined
      ? []
      : [{ name: heap, kind: 'memory', level: { from: 80, to: 400, salt: 36 } } as const]),
    heartbeat,
    ...types.flatMap((type) => transactions(transactionNames, type)),
  ];
}
