import { dayMs } from '../model/time.ts';
import type { ApplicationSpec, FleetOptions, HostSpec } from './fleet-options.ts';
import type { Random } from './random.ts';
import type {
  ApplicationKind,
  MetricName,
  SimulatedApplication,
  SimulatedHost,
} from './simulated-application.ts';

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
const historyMs = 400 * dayMs;
const lowestId = 100_000_000;
const largestIdStep = 999;

/** Agent languages, as the vendor writes them. */
const languages = ['ruby', 'java', 'python', 'nodejs', 'go', 'php', 'dotnet'] as const;

// The first seven names are as in real accounts: slashes, spaces, brackets, other scripts, and two
// applications with the same name.
const firstNames = [
  'Checkout (production)',
  'shop-checkout/api',
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

/** Most have some errors; the third has many, and every tenth has never had one. */
function errorRatioAt(index: number): number {
  if (index === 2) return 0.15;
  return index % 10 === 9 ? 0 : 0.01;
}

/** The name of the application at `index` (from 0). Unique, except for index 0 and 6. */
function applicationNameAt(index: number): string {
  const first = firstNames[index];
  if (first !== undefined) return first;
  return `${at(services, index)} ${String(index).padStart(3, '0')}`;
}

const teams = ['payments', 'search', 'platform'] as const;

/** Half of them have a third one. */
function tagsAt(index: number): Readonly<Record<string, string>> {
  return {
    team: at(teams, index),
    environment: index % 4 === 3 ? 'staging' : 'production',
    ...(index % 2 === 0 ? { tier: 'critical' } : {}),
  };
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

function kindsOf({ kinds = [] }: FleetOptions): readonly ApplicationKind[] {
  return kinds.length === 0 ? defaultKinds : kinds;
}

function at<Item>(items: readonly [Item, ...Item[]], index: number): Item {
  return items[index % items.length] ?? items[0];
}

/** Makes complete records, and fills in what a test or the generator leaves open. */
export class ApplicationFactory {
  readonly #options: FleetOptions;
  readonly #random: Random;
  readonly #nextId: (wanted: number | undefined) => number;
  #applications = 0;
  #hosts = 0;

  constructor(options: FleetOptions, random: Random) {
    this.#options = options;
    this.#random = random;
    this.#nextId = createIds(random);
  }

  host(spec: HostSpec, startedMs: number): SimulatedHost {
    const index = this.#hosts;
    this.#hosts += 1;
    const isFlat = this.#options.traffic === 'flat';
    return {
      id: this.#nextId(spec.id),
      name: spec.name ?? hostNameAt(0x01_13_0c + index),
      weight: spec.weight ?? (isFlat ? 1 : 0.5 + this.#random.next()),
      instanceIds: Array.from({ length: spec.instances ?? this.#random.integer(1, 3) }, () =>
        this.#nextId(undefined),
      ),
      startedMs,
      endedMs: undefined,
      listedUntilMs: undefined,
    };
  }

  application(spec: ApplicationSpec, nowMs: number): SimulatedApplication {
    const index = this.#applications;
    this.#applications += 1;
    const kinds = kindsOf(this.#options);
    const kind = spec.kind ?? kinds[index % kinds.length] ?? 'web';
    const id = this.#nextId(spec.id);
    const hosts = hostSpecsOf(spec).map((entry) => this.host(entry, nowMs - historyMs));
    return {
      id,
      name: spec.name ?? applicationNameAt(index),
      kind,
      language: spec.language ?? at(languages, index),
      healthStatus: spec.healthStatus ?? at(healthStatuses, index),
      alertPolicyId: index % 3 === 2 ? undefined : this.#nextId(undefined),
      endUser: kind !== 'other' && index % 2 === 0,
      responseTimeMs: this.#random.integer(5, 900),
      ratesPerMinute: ratesOf(spec, kind, this.#random),
      errorRatio: errorRatioAt(index),
      transactionNames: spec.transactionNames ?? 5,
      tags: spec.tags ?? {},
      totalWeight: hosts.reduce((sum, host) => sum + host.weight, 0) || 1,
      hosts: new Map(hosts.map((host) => [host.id, host])),
      silentSinceMs: kind === 'not_reporting' ? nowMs - 2 * dayMs : undefined,
    };
  }
}

/**
 * Makes specs for a number of applications with exactly `hosts` listed hosts. Each application that
 * reports gets one host while they last; the rest is spread unevenly.
 */
export function generateSpecs(
  applications: number,
  options: FleetOptions,
  random: Random,
): readonly ApplicationSpec[] {
  const kinds = kindsOf(options);
  const specs = Array.from({ length: applications }, (_, index) => ({
    kind: kinds[index % kinds.length] ?? ('web' as const),
    tags: tagsAt(index),
  }));
  const reporting = specs.filter((spec) => spec.kind !== 'not_reporting').length;
  const total = options.hosts ?? 4 * reporting;
  const counts = Array.from({ length: reporting }, (_, index) => Number(index < total));
  for (let left = total - reporting; left > 0; left -= 1) {
    // The square favours the first applications, so that their sizes differ widely.
    const index = Math.floor(random.next() ** 2 * counts.length);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  const left = [...counts];
  return specs.map((spec) => ({
    ...spec,
    hosts: spec.kind === 'not_reporting' ? 2 : (left.shift() ?? 0),
  }));
}
