import type { AppSnapshot } from '../model/snapshot.ts';
import type { Sample } from './render.ts';

/** A gauge of applications: its name, its help, and how a snapshot becomes samples. */
export interface AppFamily {
  readonly name: string;
  readonly help: string;
  /** Whether its samples are of hosts, and not of the application itself. */
  readonly isOfHosts?: boolean;
  /** The parts of a snapshot that its samples are made of, and nothing else. */
  readonly sources: readonly (keyof AppSnapshot)[];
  readonly samplesOf: (snapshot: AppSnapshot) => Iterable<Sample>;
}

/** Families whose samples are made of the same parts of a snapshot. */
export function familiesFrom<Source extends keyof AppSnapshot>(
  sources: readonly Source[],
  families: readonly (Pick<AppFamily, 'name' | 'help' | 'isOfHosts'> & {
    readonly samplesOf: (parts: Pick<AppSnapshot, Source>) => Iterable<Sample>;
  })[],
): readonly AppFamily[] {
  return families.map((family) => ({ ...family, sources }));
}

/** The last sentence of the help of everything that New Relic said. */
export const cachedNotice = 'Polled in the background and cached.';

/** The one sample of a family without labels of its own; none where there is no finite value. */
export function oneSample(value: number | undefined, labels = ''): readonly Sample[] {
  return value === undefined || !Number.isFinite(value) ? [] : [{ labels, value }];
}

/** As `oneSample`, for milliseconds since the epoch, in seconds. */
export function oneTimestamp(timeMs: number | undefined): readonly Sample[] {
  return oneSample(timeMs === undefined ? undefined : timeMs / 1000);
}

/** As `oneSample`, for a yes or no. */
export function oneFlag(flag: boolean | undefined): readonly Sample[] {
  return oneSample(flag === undefined ? undefined : Number(flag));
}
