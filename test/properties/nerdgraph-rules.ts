import type { TransactionType } from '../../src/model/application.ts';
import { type AppSnapshot, throughputIn } from '../../src/model/snapshot.ts';
import { minuteMs } from '../../src/model/time.ts';
import { CallCounter } from '../../src/simulator/call-counter.ts';
import type {
  SimulatedApplication,
  SimulatedHost,
} from '../../src/simulator/simulated-application.ts';
import { delayMs } from './account-setup.ts';
import { setupOf, type World } from './world.ts';

const metricNames = { web: 'HttpDispatcher', other: 'OtherTransaction/all' } as const;
/** A poll may wait for so long for its turn, or be asked again. */
const longestWaitMs = 8 * minuteMs;
/** The vendor rounds to three digits. */
const rounding = 0.006;

/** What calls are counted of. */
interface Counted {
  readonly simulated: SimulatedApplication;
  /** Without it: of the application. */
  readonly host: SimulatedHost | undefined;
  readonly window: { readonly toMs: number; readonly lengthMs: number };
}

/**
 * What is published of an account whose source is NerdGraph: calls a minute of one whole window. They are
 * compared with what the vendor has, since one answer is about many applications.
 */
export class NerdGraphRules {
  readonly #world: World;
  readonly #counter = new CallCounter(
    { seed: 1, traffic: 'daily', ingestDelayMs: 0 },
    { wallMs: () => Number.MAX_SAFE_INTEGER },
  );

  constructor(world: World) {
    this.#world = world;
  }

  published(snapshot: AppSnapshot): void {
    const { account, application, reading, pollSucceeded } = snapshot;
    const setup = setupOf(this.#world, account);
    const simulated = this.#world.fleet.application(Number(application.id));
    if (setup === undefined || simulated === undefined) return;
    if (reading?.windowEndMs === undefined) return;
    const name = `${account} ${application.id}`;
    this.#checkWindow(name, reading.windowEndMs, pollSucceeded === true);
    const window = { toMs: reading.windowEndMs, lengthMs: setup.windowMs };
    this.#checkValues(name, throughputIn(reading), { simulated, host: undefined, window });
    for (const hostName of reading.hosts.keys()) {
      const [host, ...twins] = [...simulated.hosts.values()].filter((one) => one.name === hostName);
      // Hosts of one name are one host here.
      if (host === undefined || twins.length > 0) continue;
      const values = throughputIn(reading, hostName);
      this.#checkValues(`${name} ${hostName}`, values, { simulated, host, window });
    }
  }

  #checkWindow(name: string, toMs: number, isRenewed: boolean): void {
    const ageMs = this.#world.vendorWallMs() - toMs - delayMs;
    const isRecent = ageMs >= -minuteMs && ageMs <= minuteMs + longestWaitMs;
    if (toMs % minuteMs === 0 && (!isRenewed || isRecent)) return;
    this.#world.report('window', `${name}: shows ${new Date(toMs).toISOString()}`);
  }

  #checkValues(
    name: string,
    values: ReadonlyMap<TransactionType, number>,
    { simulated, host, window: { toMs, lengthMs } }: Counted,
  ): void {
    for (const [type, value] of values) {
      const fromMs = toMs - lengthMs;
      const calls = this.#counter.count(simulated, host, metricNames[type], fromMs, toMs);
      const expected = (calls * minuteMs) / lengthMs;
      if (Math.abs(value - expected) <= rounding * expected) continue;
      this.#world.report('truth', `${name} ${type}: ${value}, and the vendor has ${expected}`);
    }
  }
}
