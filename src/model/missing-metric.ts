import type { ValueName } from './vendor-value.ts';

/** A value that an entry asks for, and that New Relic has sent for none of its applications. */
export interface MissingMetric {
  /** The entry as it was written, such as `id=123`. */
  readonly selector: string;
  /** The Prometheus name of the gauge; that of hosts if it is read of hosts alone. */
  readonly name: string;
  /** New Relic's name of the metric; of a preset perhaps several, separated by commas. */
  readonly metric: string;
  readonly value: ValueName;
}
