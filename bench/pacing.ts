/**
 * How well the calls are spread: the whole daemon on a simulated clock, beside a simulated New Relic that
 * allows 1000 calls in fixed minutes whose phase clients do not know. Theory is a client that nobody can
 * build: it spends all 1000 without a refusal, evenly, and publishes each value when it arrives. With T =
 * max(interval, calls / (1000 - list calls)) the age of its values is uniform in [latency, latency + T].
 */

import { presetNames } from '../src/model/presets.ts';
import { minuteMs } from '../src/model/time.ts';
import type { PacingResult } from './pacing-process.ts';
import type { Scene } from './pacing-vendor.ts';
import { type Build, forkOf, messageOf, ofEach } from './processes.ts';
import type { Row } from './table.ts';

const atOnce = 2;
const meanLatencySeconds = 0.24;
const listPage = 200;

function restScene(hosts: number, more: Partial<Scene> = {}): Scene {
  return {
    source: 'rest',
    requestsPerMinute: 990,
    concurrency: 8,
    metrics: ['throughput'],
    applications: hosts / 50,
    hosts,
    quotaPhaseMs: 29_000,
    latencyMs: [80, 400],
    // Three rounds are enough to come into step.
    warmUpMs: Math.max(5, Math.ceil((3.2 * hosts) / 1000)) * minuteMs,
    measuredMs: 15 * minuteMs,
    ...more,
  };
}

/** With the defaults of a configuration; the latency is what the plan of the exporter assumes. */
function nerdgraphScene(hosts: number, more: Partial<Scene> = {}): Scene {
  return restScene(hosts, {
    source: 'nerdgraph',
    requestsPerMinute: 800,
    concurrency: 5,
    applications: hosts / 20,
    latencyMs: [400, 1600],
    warmUpMs: 5 * minuteMs,
    ...more,
  });
}

/** The largest first, so that none runs alone at the end. */
const scenes = {
  rest10000: restScene(10_000),
  rest2000: restScene(2000),
  foreign: restScene(2000, {
    requestsPerMinute: 800,
    foreign: { perMinute: 200, untilMs: Number.MAX_SAFE_INTEGER },
  }),
  /** The other user takes so much that everybody is refused, and then stops. */
  recovery: restScene(2000, {
    requestsPerMinute: 800,
    foreign: { perMinute: 500, untilMs: 6 * minuteMs },
    measuredMs: 10 * minuteMs,
  }),
  nerdgraph10000: nerdgraphScene(10_000),
  rest500: restScene(500),
  wide: restScene(500, { concurrency: 64, warmUpMs: minuteMs, measuredMs: minuteMs }),
  rest: restScene(100, { measuredMs: 5 * minuteMs }),
  restPresets: restScene(100, { measuredMs: 5 * minuteMs, metrics: presetNames }),
  nerdgraph: nerdgraphScene(100, { measuredMs: 5 * minuteMs }),
  nerdgraphPresets: nerdgraphScene(100, { measuredMs: 5 * minuteMs, metrics: presetNames }),
} as const satisfies Readonly<Record<string, Scene>>;

type Name = keyof typeof scenes;

/** The time in which everything can be asked for once, or the interval if that is longer. */
function roundSeconds({ applications, hosts }: Scene): number {
  return Math.max(60, (60 * (applications + hosts)) / (1000 - Math.ceil(applications / listPage)));
}

type Results = ReadonlyMap<Name, readonly (PacingResult | undefined)[]>;

async function run(builds: readonly Build[]): Promise<Results> {
  const results = new Map<Name, readonly (PacingResult | undefined)[]>();
  const left = Object.entries(scenes).values();
  const worker = async (): Promise<void> => {
    for (const [name, scene] of left) {
      const measured = await ofEach(builds, async (build) =>
        messageOf<PacingResult>(forkOf('pacing-process', [JSON.stringify([build, scene])])),
      );
      results.set(name as Name, measured);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

type Of = (result: PacingResult) => number;

/** What differs between the rows: everything but the values. */
type Shape = Omit<Row, 'values'>;

function rowsOf(results: Results): readonly Row[] {
  const row = (name: Name, of: Of, shape: Shape): Row => ({
    ...shape,
    values: (results.get(name) ?? []).map((one) => (one === undefined ? undefined : of(one))),
  });
  const ages = (name: 'rest500' | 'rest2000' | 'rest10000'): readonly Row[] => {
    const scene = scenes[name];
    const theory = (share: number): Row['peer'] & {} => ({
      name: 'theory',
      value: meanLatencySeconds + share * roundSeconds(scene),
    });
    const what = `REST, ${scene.hosts} hosts: age of values`;
    const shape = { goal: 'P12', unit: 's' } as const;
    return [
      row(name, (one) => one.p50Seconds, {
        ...shape,
        what: `${what}, p50`,
        peer: theory(0.5),
        limit: 1.03,
      }),
      row(name, (one) => one.p99Seconds, {
        ...shape,
        what: `${what}, p99`,
        peer: theory(0.99),
        limit: 1.06,
      }),
    ];
  };
  const firstSet = (name: 'rest2000' | 'rest10000'): Row =>
    row(name, (one) => one.firstSetSeconds, {
      goal: 'P13',
      what: `REST, ${scenes[name].hosts} hosts: first full set`,
      unit: 's',
      peer: { name: 'bound + a minute', value: roundSeconds(scenes[name]) + 60 },
      limit: 1.05,
    });
  const allToOne = (one: Name, all: Name, what: string): Row => ({
    goal: 'P20',
    what: `${what}: calls a minute with all presets`,
    unit: '',
    values: (results.get(all) ?? []).map((result) => result?.callsPerMinute),
    peer: { name: 'throughput alone', value: results.get(one)?.[0]?.callsPerMinute ?? Number.NaN },
    limit: 1,
  });
  return [
    row('rest10000', (one) => one.refusedPerHour, {
      goal: 'P11',
      what: 'REST, 10,000 hosts, alone: 429s an hour',
      unit: '',
      digits: 0,
      limit: 0,
    }),
    row('rest10000', (one) => one.quotaPercent, {
      goal: 'P11',
      what: 'REST, 10,000 hosts, alone: part of the limit that is used',
      unit: '%',
      least: 98.5,
    }),
    row('foreign', (one) => one.refusedPerHour, {
      goal: 'P11',
      what: 'REST, beside another user of 20 %: 429s an hour',
      unit: '',
      digits: 0,
      limit: 6,
    }),
    row('recovery', (one) => one.recoveryMinutes, {
      goal: 'P11',
      what: 'REST: last 429 to the full budget',
      unit: 'min',
      limit: 5,
    }),
    ...ages('rest500'),
    ...ages('rest2000'),
    ...ages('rest10000'),
    row('wide', (one) => one.firstSetSeconds, {
      goal: 'P13',
      what: 'REST, 500 hosts, 64 calls at a time: first full set',
      unit: 's',
      limit: 3,
    }),
    firstSet('rest2000'),
    firstSet('rest10000'),
    row('nerdgraph10000', (one) => one.firstSetSeconds, {
      goal: 'P15',
      what: 'NerdGraph, 10,000 hosts: first full set',
      unit: 's',
      limit: 60,
    }),
    row('nerdgraph10000', (one) => one.p50Seconds, {
      goal: '',
      what: 'NerdGraph, 10,000 hosts: age of values, p50',
      unit: 's',
    }),
    // A value that is asked for every minute is up to a minute old, beside the time of its answer.
    row('nerdgraph10000', (one) => one.p99Seconds, {
      goal: 'P15',
      what: 'NerdGraph, 10,000 hosts: age of values, p99',
      unit: 's',
      limit: 61.6,
    }),
    row('nerdgraph10000', (one) => one.mostNrqlPerMinute, {
      goal: 'P15',
      what: 'NerdGraph, 10,000 hosts: most NRQL in a minute',
      unit: '',
      digits: 0,
      limit: 20,
    }),
    allToOne('rest', 'restPresets', 'REST'),
    allToOne('nerdgraph', 'nerdgraphPresets', 'NerdGraph'),
  ];
}

export async function pacingBench(builds: readonly Build[]): Promise<readonly Row[]> {
  return rowsOf(await run(builds));
}
