import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';

/** What the vendor does to the calls of an account from the moment when things go wrong. */
export type Trouble = 'none' | 'refuses the key' | 'fails half of the calls' | 'throttles';

export interface SituationAccount {
  /** The label `account`. */
  readonly name: string;
  readonly applications: readonly ApplicationSpec[];
  readonly trouble: Trouble;
}

export interface SituationExporter {
  readonly job: string;
  readonly instance: string;
  readonly args: readonly string[];
  /** The host that a sidecar runs on. */
  readonly hostName: string;
  /** Whether it ends when things go wrong. */
  readonly isKilled: boolean;
}

/** Exporters and accounts in a state that the dashboards must show. */
export interface Situation {
  readonly name: string;
  /** The label `cluster` of all its series, by which the dashboards tell situations apart. */
  readonly cluster: string;
  readonly accounts: readonly SituationAccount[];
  readonly exporters: readonly SituationExporter[];
  /** The entries of the configuration, besides those that choose every application. */
  readonly entries: readonly string[];
  /** Settings that every application has. */
  readonly settings: string;
  /** How long the last values are held, such as `15m`. */
  readonly staleAfter: string;
  /** The alerts that must be pending or firing, and no others. */
  readonly alerts: readonly string[];
}

/** Ordinary applications: the shards of two exporters have some of each account. */
function shopsOf(account: string, firstId: number): readonly ApplicationSpec[] {
  const kinds = ['both', 'web', 'web', 'other'] as const;
  return ['checkout', 'catalogue', 'search', 'worker'].map((name, index) => ({
    id: firstId + index,
    name: `${account}-${name}`,
    kind: kinds[index],
    healthStatus: 'green',
    webRpm: kinds[index] === 'other' ? 0 : 600 * (index + 1),
    otherRpm: kinds[index] === 'web' ? 0 : 60,
    hosts: [1, 2, 3].map((host) => ({
      id: (firstId + index) * 10 + host,
      name: `${account}-${name}-${host}`,
      instances: 1,
    })),
  }));
}

function anAccount(name: string, firstId: number, trouble: Trouble = 'none'): SituationAccount {
  return { name, applications: shopsOf(name, firstId), trouble };
}

const main = anAccount('main', 1001);
const europe = anAccount('europe', 2001);

function shards(killed: readonly number[] = []): readonly SituationExporter[] {
  return [0, 1].map((shard) => ({
    job: 'newrelic-exporter',
    instance: `newrelic-exporter-${shard}:9126`,
    args: [`--shard=${shard}`, '--total-shards=2'],
    hostName: '',
    isKilled: killed.includes(shard),
  }));
}

function situation(name: string, changes: Partial<Situation> = {}): Situation {
  return {
    name,
    cluster: name.replaceAll(/[^\da-z]+/gu, '-'),
    accounts: [main, europe],
    exporters: shards(),
    entries: [],
    settings: '',
    staleAfter: '15m',
    alerts: [],
    ...changes,
  };
}

export const situations: readonly Situation[] = [situation('healthy')];
