import type { Clock } from '../model/clock.ts';
import { throughputOf, totalOf } from '../model/polled-series.ts';
import {
  type AppReading,
  type AppSnapshot,
  isOfQuery,
  type SnapshotSink,
} from '../model/snapshot.ts';

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

/** The values of an hour: 240 bytes, whatever happens. */
interface Hour {
  /** Of the minutes up to `lastMinute`; `NaN` for a minute without a value. */
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
    const total = perMinuteOf(reading, hostsOnly);
    if (total === undefined) return;
    add(hourOf(account, application.id), Math.floor(reading.windowEndMs / minuteMs), total);
  };

  return {
    sink: {
      publish: (snapshot) => {
        if (!isOfQuery(snapshot)) remember(snapshot);
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
      const ahead = nowMinute - (hour?.lastMinute ?? nowMinute);
      return Array.from({ length: minutes }, (_, index) => {
        const value = hour?.values[index + ahead];
        // Seven digits are what 32 bits hold: the rest is noise.
        return value === undefined || Number.isNaN(value)
          ? undefined
          : Number(value.toPrecision(7));
      });
    },
  };
}

/** All requests of the application: its own values, or those of its hosts if only they are polled. */
function perMinuteOf(
  { series, application, hosts }: AppReading,
  hostsOnly: boolean,
): number | undefined {
  const totals = [...(hostsOnly ? hosts.values() : [application])]
    .map((values) => totalOf(throughputOf(series, values)))
    .filter((total) => total !== undefined);
  return totals.length === 0 ? undefined : totals.reduce((sum, total) => sum + total, 0);
}

function add(hour: Hour, minute: number, value: number): void {
  const { values, lastMinute } = hour;
  const passed = minute - lastMinute;
  if (Math.abs(passed) >= minutes) {
    values.fill(Number.NaN);
  } else if (passed > 0) {
    values.copyWithin(0, passed).fill(Number.NaN, -passed);
  } else if (passed < 0) {
    // Windows go back when a clock is set back: then what seems to lie ahead is not true.
    values.copyWithin(-passed, 0).fill(Number.NaN, 0, -passed);
  }
  values[minutes - 1] = value;
  hour.lastMinute = minute;
}
