import { minuteMs } from '../../src/model/time.ts';
import { delayMs } from './account-setup.ts';
import type { WireCall } from './vendor-wire.ts';
import type { World } from './world.ts';

/** By then answers have told of a clock that was set. */
const learningMs = 6 * minuteMs;
const learningAnswers = 12;
/** Most of the last nine, by which the vendor's clock is read, have come after a sleep then. */
const tellingAnswers = 5;
/** A difference between the clocks that is left alone. */
const tolerableMs = 31_000;
const believableMs = 25 * 3_600_000;
/** A question may wait for so long for its turn, or be asked again. */
const longestWaitMs = 8 * minuteMs;

/** The windows that are asked for: recent, and complete. */
export class WindowRules {
  readonly #world: World;
  /** How far the vendor's `Date` was ahead of its clock, the newest last. */
  readonly #dates = [{ sinceMs: Number.NEGATIVE_INFINITY, offsetMs: 0 }];
  readonly #seen = new Set<string>();
  readonly #excused = new Set<string>();
  /** Accounts that too few answers have told yet how long the machine slept, and how many more it takes. */
  readonly #untold = new Map<string, number>();
  readonly #answers = new Map<string, number>();
  #changedMs = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  dateOffsetMs(): number {
    return this.#dates.at(-1)?.offsetMs ?? 0;
  }

  vendorDate(offsetMs: number): void {
    this.#dates.push({ sinceMs: this.#world.nowMs(), offsetMs });
    this.changed();
  }

  /** A clock was set, or a connection is new. */
  changed(): void {
    this.#changedMs = this.#world.nowMs();
    this.#answers.clear();
  }

  /** The next poll of each of these applications has begun, or may begin before it is known that the machine slept. */
  excuse(account: string, applicationIds: readonly string[]): void {
    for (const id of applicationIds) this.#excused.add(`${account} ${id}`);
    this.#untold.set(account, tellingAnswers);
  }

  answered({ account }: WireCall): void {
    const left = (this.#untold.get(account) ?? 0) - 1;
    if (left > 0) this.#untold.set(account, left);
    else this.#untold.delete(account);
    this.#answers.set(account, (this.#answers.get(account) ?? 0) + 1);
  }

  sent({ account, metric }: WireCall): void {
    if (metric === undefined) return;
    const { applicationId, toMs } = metric;
    const application = `${account} ${applicationId}`;
    const poll = `${application} ${toMs}`;
    if (this.#seen.has(poll)) return;
    this.#seen.add(poll);
    const ends = this.#acceptableNowsMs(account).map((nowMs) => nowMs - delayMs);
    if (
      ends.some((endMs) => toMs <= endMs + tolerableMs && toMs >= endMs - minuteMs - longestWaitMs)
    ) {
      this.#excused.delete(application);
      return;
    }
    if (this.#untold.has(account) || this.#excused.delete(application)) return;
    const text = ends.map((endMs) => new Date(endMs).toISOString()).join(' or ');
    this.#world.report(
      'window',
      `${application}: asks for a window until ${new Date(toMs).toISOString()}, expected ${text}`,
    );
  }

  #acceptableNowsMs(account: string): readonly number[] {
    const { nowMs, ownWallMs, vendorWallMs } = this.#world;
    const isSettled =
      nowMs() >= this.#changedMs + learningMs &&
      (this.#answers.get(account) ?? 0) >= learningAnswers;
    const ownMs = ownWallMs();
    const datesMs = this.#dates
      .filter((_, index) => index === this.#dates.length - 1 || !isSettled)
      .map(({ offsetMs }) => vendorWallMs() + offsetMs)
      .filter((dateMs) => Math.abs(dateMs - ownMs) <= believableMs);
    const isOwnRight =
      datesMs.length === 0 || datesMs.some((dateMs) => Math.abs(dateMs - ownMs) <= tolerableMs);
    return isSettled && !isOwnRight ? datesMs : [ownMs, ...datesMs];
  }
}
