import type { Clock } from '../model/clock.ts';
import type { AppReading, AppSnapshot, SnapshotSink } from '../model/snapshot.ts';

/** The throughput of the last hour, of every application that is published. */
export interface ThroughputHistory {
  /** Passes everything on, and remembers it. */
  readonly sink: SnapshotSink;
  /**
   * Requests per minute of an application, all transaction types together, for each of the last 60
   * minutes, the oldest first; `undefined` for a minute in which no window of a poll ended.
   */
  of(account: string, applicationId: string): readonly (number | undefined)[];
}

const minutes = 60;
const minuteMs = 60_000;

/** A ring of the values of an hour: 240 bytes, whatever happens. */
interface Hour {
  /** `NaN` for a minute without a value; the value of a minute is at its number modulo 60. */
  readonly values: Float32Array;
  /** The last minute with a value, counted from the epoch. */
  lastMinute: number;
}

export function createThroughputHistory(
  sink: SnapshotSink,
  { clock }: { readonly clock: Pick<Clock, 'wallMs'> },
): ThroughputHistory {
  const hours = new Map<string, Map<string, Hour>>();

  const hourOf = (account: string, id: string): Hour => {
    const ofAccount = hours.get(account) ?? new Map<string, Hour>();
    hours.set(account, ofAccount);
    const known = ofAccount.get(id);
    if (known !== undefined) return known;
    const hour = { values: new Float32Array(minutes).fill(Number.NaN), lastMinute: -Infinity };
    ofAccount.set(id, hour);
    return hour;
  };

  const remember = (snapshot: AppSnapshot): void => {
    const { account, application, reading, hostsOnly } = snapshot;
    if (reading?.windowEndMs === undefined) return;
    const total = totalOf(reading, hostsOnly);
    if (total === undefined) return;
    add(hourOf(account, application.id), Math.floor(reading.windowEndMs / minuteMs), total);
  };

  return {
    sink: {
      publish: (snapshot) => {
        remember(snapshot);
        sink.publish(snapshot);
      },
      remove: (account, applicationId) => {
        hours.get(account)?.delete(applicationId);
        sink.remove(account, applicationId);
      },
      accountUp: (account, up) => {
        sink.accountUp(account, up);
      },
      removeAccount: (account) => {
        hours.delete(account);
        sink.removeAccount(account);
      },
    },
    of: (account, applicationId) => {
      const hour = hours.get(account)?.get(applicationId);
      const nowMinute = Math.floor(clock.wallMs() / minuteMs);
      return Array.from({ length: minutes }, (_, index) =>
        valueAt(hour, nowMinute - minutes + 1 + index),
      );
    },
  };
}

/** All requests of the application: its own values, or those of its hosts if only they are polled. */
function totalOf(
  { series, application, hosts }: AppReading,
  hostsOnly: boolean,
): number | undefined {
  const indexes = [...series.keys()].filter((index) => series[index]?.preset === 'throughput');
  let total: number | undefined;
  for (const values of hostsOnly ? hosts.values() : [application]) {
    for (const index of indexes) {
      const perMinute = values[index];
      if (perMinute !== undefined) total = (total ?? 0) + perMinute;
    }
  }
  return total;
}

function add(hour: Hour, minute: number, value: number): void {
  const { values, lastMinute } = hour;
  if (Math.abs(minute - lastMinute) >= minutes) values.fill(Number.NaN);
  // Windows go back when a clock is set back: then what seems to lie ahead is not true.
  const [from, to] = minute > lastMinute ? [lastMinute + 1, minute] : [minute + 1, lastMinute + 1];
  for (let step = Math.max(from, to - minutes); step < to; step += 1) {
    values[step % minutes] = Number.NaN;
  }
  values[minute % minutes] = value;
  hour.lastMinute = minute;
}

function valueAt(hour: Hour | undefined, minute: number): number | undefined {
  if (hour === undefined || minute > hour.lastMinute || minute <= hour.lastMinute - minutes) {
    return undefined;
  }
  const value = hour.values[minute % minutes];
  // Seven digits are what 32 bits hold: the rest is noise.
  return value === undefined || Number.isNaN(value) ? undefined : Number(value.toPrecision(7));
}
