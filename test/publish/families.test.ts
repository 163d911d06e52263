import { describe, expect, it } from 'vitest';
import { type CustomMetric, seriesOf } from '../../src/model/polled-series.ts';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { familiesOf } from '../../src/publish/families.ts';
import { anApplication, aReading, aSnapshot, renderedOf, textOf } from './builders.ts';

const before =
  /newrelic_application_(\w+)\{account="production",app_id="101",app_name="Checkout",?/gu;

/** The lines of an application, without what is the same in all of them. */
function linesOf(snapshot: Partial<AppSnapshot>): readonly string[] {
  const text = textOf(renderedOf(aSnapshot(snapshot)));
  return text.replaceAll(before, '$1{').split('\n').slice(0, -1);
}

const window = 'window_end_timestamp_seconds{} 1788256800';
const info = 'info{language=""} 1';
const hosts = new Map([
  ['7', [2]],
  ['8', [undefined, 1]],
  ['9', []],
]);
const hostLines = [
  'host_requests_per_minute{host_id="7",host_name="7",transaction_type="web"} 2',
  'host_requests_per_minute{host_id="8",host_name="8",transaction_type="other"} 1',
];

describe('an application', () => {
  it.each<{ what: string; snapshot: Partial<AppSnapshot>; lines: readonly string[] }>([
    { what: 'its existence alone if nothing is known of it', snapshot: {}, lines: [info] },
    {
      what: 'a zero from the vendor',
      snapshot: { reading: aReading({ application: [0] }) },
      lines: ['requests_per_minute{transaction_type="web"} 0', window, info],
    },
    {
      what: 'nothing instead of a value that is not a finite number',
      snapshot: { reading: aReading({ application: [Number.NaN, Number.POSITIVE_INFINITY] }) },
      lines: [window, info],
    },
    {
      what: 'a host of unknown or empty name by its id',
      snapshot: { reading: aReading({ hosts }), hostNames: new Map([['8', '']]) },
      lines: [...hostLines, window, info],
    },
    {
      what: 'only its hosts if it is itself not wanted',
      snapshot: { reading: aReading({ application: [1], hosts }), hostsOnly: true },
      lines: hostLines,
    },
    {
      what: 'no window of a reading without data',
      snapshot: { reading: aReading({ windowEndMs: undefined }) },
      lines: [info],
    },
    {
      what: 'no health if the vendor left it empty',
      snapshot: { application: anApplication({ healthStatus: '' }) },
      lines: [info],
    },
  ])('publishes $what', ({ snapshot, lines }) => {
    expect(linesOf(snapshot)).toEqual(lines);
  });
});

describe('the order of a page', () => {
  it('has presets first, then what the configuration names, then what every application has', () => {
    const source = {
      metric: 'Custom/Depth',
      value: 'average_value',
      scale: 1,
      help: undefined,
    } as const;
    const named = (as: string): CustomMetric => ({
      ...source,
      as,
      labels: {},
      scope: 'applications',
    });

    const families = familiesOf(seriesOf([named('b'), 'throughput', named('a')], ['web']));

    expect(families.slice(0, 5).map(({ name }) => name)).toEqual([
      'newrelic_application_requests_per_minute',
      'newrelic_application_host_requests_per_minute',
      'a',
      'b',
      'newrelic_application_window_end_timestamp_seconds',
    ]);
  });
});
