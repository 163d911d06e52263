import { describe, expect, it } from 'vitest';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { familiesOf } from '../../src/publish/families.ts';
import { throughputSeries } from '../support/builders.ts';
import { anApplication, aReading, aSnapshot, renderedOf, textOf } from './builders.ts';

const appFamilies = familiesOf(throughputSeries);

/** The samples of a family for a snapshot: labels and values as text. */
function samplesOf(suffix: string, snapshot: AppSnapshot): readonly string[] {
  const name = `newrelic_application_${suffix}`;
  if (!appFamilies.some((family) => family.name === name)) return ['no such family'];
  return textOf(renderedOf(snapshot))
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => line.replace(/^\w+\{account="\w+",app_id="\d+",app_name="\w+",?(.*)\} /u, '$1 '))
    .map((sample) => sample.trim());
}

describe('appFamilies', () => {
  it('publishes only the existence of an application without facts', () => {
    const speaking = appFamilies.filter(
      ({ samplesOf: samples }) => [...samples(aSnapshot(), String)].length > 0,
    );

    expect(speaking.map(({ name }) => name)).toEqual(['newrelic_application_info']);
  });

  it.each([
    {
      what: 'a zero from the vendor',
      suffix: 'requests_per_minute',
      snapshot: { reading: aReading({ application: [0] }) },
      samples: ['transaction_type="web" 0'],
    },
    {
      what: 'nothing instead of a value that is not a finite number',
      suffix: 'requests_per_minute',
      snapshot: {
        reading: aReading({
          application: [Number.NaN, Number.POSITIVE_INFINITY],
        }),
      },
      samples: [],
    },
    {
      what: 'a host of unknown or empty name by its id',
      suffix: 'host_requests_per_minute',
      snapshot: {
        reading: aReading({
          hosts: new Map([
            ['7', [2]],
            ['8', [undefined, 1]],
            ['9', []],
          ]),
        }),
        hostNames: new Map([['8', '']]),
      },
      samples: [
        'host_id="7",host_name="7",transaction_type="web" 2',
        'host_id="8",host_name="8",transaction_type="other" 1',
      ],
    },
    {
      what: 'no window of a reading without data',
      suffix: 'window_end_timestamp_seconds',
      snapshot: { reading: aReading({ windowEndMs: undefined }) },
      samples: [],
    },
    {
      what: 'no health if the vendor left it empty',
      suffix: 'health_status',
      snapshot: { application: anApplication({ healthStatus: '' }) },
      samples: [],
    },
  ] satisfies readonly {
    what: string;
    suffix: string;
    snapshot: Partial<AppSnapshot>;
    samples: readonly string[];
  }[])('publishes $what', ({ suffix, snapshot, samples }) => {
    expect(samplesOf(suffix, aSnapshot(snapshot))).toEqual(samples);
  });
});
