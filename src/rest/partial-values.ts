import type { Values } from '../model/polled-series.ts';

/** Puts the values together that arrive in several calls. */
export class PartialValues {
  readonly #values: (number | undefined)[];
  #callsLeft: number;

  /** @param length how many series there are in all */
  constructor(length: number, calls: number) {
    this.#values = Array.from({ length }, () => undefined);
    this.#callsLeft = calls;
  }

  /** All values when these are the last, else `undefined`. */
  add(values: Values, places: readonly number[]): Values | undefined {
    for (const [index, place] of places.entries()) this.#values[place] = values[index];
    this.#callsLeft -= 1;
    return this.#callsLeft === 0 ? this.#values : undefined;
  }
}
