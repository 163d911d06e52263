import { dayMs } from '../model/time.ts';
import type { ApplicationSpec, FleetOptions, HostSpec } from './fleet-options.ts';
import type { Random } from './random.ts';
import type {
  ApplicationKind,
  MetricName,
  SimulatedApplication,
  SimulatedHost,
} from './simulated-application.ts';

/** Makes complete records, and fills in what a test or the generator leaves open. */
export interface ApplicationFactory {
  application(spec: ApplicationSpec, nowMs: number): SimulatedApplication;
  host(spec: HostSpec, startedMs: number): SimulatedHost;
}

const defaultKinds: readonly ApplicationKind[] = [
  'web',
  'other',
  'both',
  'idle',
  'not_reporting',
  'web',
  'web',
  'both',
  'web',
  'web',
];

/** The vendor keeps data of one-minute resolution for eight days. */
const historyMs = 8 * dayMs;
const lowestId = 100_000_000;
const largestIdStep = 999;

/** Agent languages, as the vendor writes them. */
const languages = ['ruby', 'java', 'python', 'nodejs', 'go', 'php', 'dotnet'] as const;

// The first seven names are as in real accounts: slashes, spaces, brackets, other scripts, and two
// applications with the same name.
const firstNames = [
  'Checkout (production)',
  'shop/checkout/api',
  'Billing Service',
  'Größenberater – Zürich',
  'legacy.reports',
  '検索 API',
  'Checkout (production)',
] as const;

const services = [
  'shop-cart',
  'payments',
  'search-index',
  'user-profile',
  'mail worker',
  'stock/levels',
  'pricing',
  'gateway',
] as const;

const healthStatuses = ['green', 'green', 'green', 'orange', 'green', 'unknown', 'red'] as const;

const defaultTransactionNames = 5;

/** Most have some errors; the third has many, and every tenth has never had one. */
function errorRatioAt(index: number): number {
  if (index === 2) return 0.15;
  return index % 10 === 9 ? 0 : 0.01;
}

/** The name of the application at `index` (from 0). Unique, except for index 0 and 6. */
function applicationNameAt(index: number): string {
  const first = firstNames[index];
  if (first !== undefined) return first;
  const service = services[index % services.length] ?? services[0];
  return `${service} ${String(index).padStart(3, '0')}`;
}

const teams = ['payments', 'search', 'platform'] as const;

/** Half of them have a third one. */
function tagsAt(index: number): Readonly<Record<string, string>> {
  return {
    team: teams[index % teams.length] ?? teams[0],
    environment: index % 4 === 3 ? 'staging' : 'production',
    ...(index % 2 === 0 ? { tier: 'critical' } : {}),
  };
}

function languageAt(index: number): string {
  return languages[index % languages.length] ?? languages[0];
}

function healthStatusAt(index: number): string {
  return healthStatuses[index % healthStatuses.length] ?? healthStatuses[0];
}

/** A private address as a host name, such as `ip-10-1-19-12`; unique below 2^24. */
function hostNameAt(index: number): string {
  return `ip-10-${(index >>> 16) & 255}-${(index >>> 8) & 255}-${index & 255}`;
}

/** Gives ids of nine digits in rising order, with gaps. No two records of any kind share an id. */
function createIds(random: Random): (wanted: number | undefined) => number {
  const taken = new Set<number>();
  let last = lowestId;
  const fresh = (): number => {
    do last += random.integer(1, largestIdStep);
    while (taken.has(last));
    return last;
  };
  return (wanted) => {
    if (wanted !== undefined && taken.has(wanted)) {
      throw new Error(
        `The simulated account has the id ${wanted} twice: give it to one thing only.`,
      );
    }
    const id = wanted ?? fresh();
    taken.add(id);
    return id;
  };
}

function ratesOf(
  spec: ApplicationSpec,
  kind: ApplicationKind,
  random: Random,
): Readonly<Record<MetricName, number>> {
  const web = kind === 'web' || kind === 'both' || kind === 'not_reporting';
  const other = kind === 'other' || kind === 'both';
  // The traffic of real accounts spans orders of magnitude.
  const guess = (): number => Math.round(10 ** (1 + 3 * random.next()));
  return {
    HttpDispatcher: spec.webRpm ?? (web ? guess() : 0),
    'OtherTransaction/all': spec.otherRpm ?? (other ? guess() : 0),
  };
}

function hostSpecsOf({ hosts = 0 }: ApplicationSpec): readonly HostSpec[] {
  return typeof hosts === 'object' ? hosts : Array.from({ length: hosts }, () => ({}));
}

function withDefaults(
  { transactionNames, tags = {} }: ApplicationSpec,
  usual: number,
): Pick<SimulatedApplication, 'transactionNames' | 'tags'> {
  return { transactionNames: transactionNames ?? usual, tags };
}

export function createApplicationFactory(
  options: Pick<FleetOptions, 'kinds' | 'traffic' | 'transactionNames'>,
  dependencies: { readonly random: Random },
): ApplicationFactory {
  const { random } = dependencies;
  const nextId = createIds(random);
  const kinds =
    options.kinds === undefined || options.kinds.length === 0 ? defaultKinds : options.kinds;
  const { transactionNames = defaultTransactionNames } = options;
  let applications = 0;
  let hosts = 0;

  const host = (spec: HostSpec, startedMs: number): SimulatedHost => {
    const index = hosts;
    hosts += 1;
    return {
      id: nextId(spec.id),
      name: spec.name ?? hostNameAt(0x01_13_0c + index),
      weight: spec.weight ?? (options.traffic === 'flat' ? 1 : 0.5 + random.next()),
      instanceIds: Array.from({ length: spec.instances ?? random.integer(1, 3) }, () =>
        nextId(undefined),
      ),
      startedMs,
      endedMs: undefined,
      listedUntilMs: undefined,
    };
  };

  const application = (spec: ApplicationSpec, nowMs: number): SimulatedApplication => {
    const index = applications;
    applications += 1;
    const kind = spec.kind ?? kinds[index % kinds.length] ?? 'web';
    const id = nextId(spec.id);
    const made = hostSpecsOf(spec).map((entry) => host(entry, nowMs - historyMs));
    return {
      id,
      name: spec.name ?? applicationNameAt(index),
      kind,
      language: spec.language ?? languageAt(index),
      healthStatus: spec.healthStatus ?? healthStatusAt(index),
      alertPolicyId: index % 3 === 2 ? undefined : nextId(undefined),
      endUser: kind !== 'other' && index % 2 === 0,
      responseTimeMs: random.integer(5, 900),
      ratesPerMinute: ratesOf(spec, kind, random),
      errorRatio: spec.errorRatio ?? errorRatioAt(index),
      ...withDefaults(spec, transactionNames),
      totalWeight: made.reduce((sum, entry) => sum + entry.weight, 0) || 1,
      hosts: new Map(made.map((entry) => [entry.id, entry])),
      silentSinceMs: kind === 'not_reporting' ? nowMs - 2 * dayMs : undefined,
    };
  };

  return { application, host };
}

/**
 * Makes specs for a number of applications with exactly `hosts` listed hosts. Each application that
 * reports gets one host while they last; the rest is spread unevenly.
 */
export function generateSpecs(
  options: { readonly applications: number; readonly hosts: number | undefined } & Pick<
    FleetOptions,
    'kinds'
  >,
  random: Random,
): readonly ApplicationSpec[] {
  const kinds =
    options.kinds === undefined || options.kinds.length === 0 ? defaultKinds : options.kinds;
  const specs = Array.from({ length: options.applications }, (_, index) => ({
    kind: kinds[index % kinds.length] ?? ('web' as const),
    hosts: 0,
    tags: tagsAt(index),
  }));
  const reporting = specs.filter((spec) => spec.kind !== 'not_reporting');
  const total = options.hosts ?? 4 * reporting.length;
  const counts = reporting.map((_, index) => Number(index < total));
  for (let left = total - reporting.length; left > 0; left -= 1) {
    // The square favours the first applications, so that their sizes differ widely.
    const index = Math.floor(random.next() ** 2 * counts.length);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  let next = 0;
  return specs.map((spec) => {
    if (spec.kind === 'not_reporting') return { ...spec, hosts: 2 };
    const hosts = counts[next] ?? 0;
    next += 1;
    return { ...spec, hosts };
  });
}
