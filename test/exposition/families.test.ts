import { describe, expect, it } from 'vitest';
import { upFamily } from '../../src/exposition/families.ts';
import { createFamilies } from '../../src/exposition/polled-families.ts';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { throughputSeries } from '../support/builders.ts';
import { anApplication, aReading, aSnapshot, renderedOf, textOf } from './builders.ts';

const noSummary = {
  requestsPerMinute: undefined,
  responseTimeSeconds: undefined,
  errorRatio: undefined,
  apdexScore: undefined,
  apdexTargetSeconds: undefined,
};

const appFamilies = createFamilies()(throughputSeries);

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
  it('holds every gauge of an application once, in the order of the page', () => {
    expect(appFamilies.map(({ name }) => name)).toEqual([
      'newrelic_application_requests_per_minute',
      'newrelic_application_host_requests_per_minute',
      'newrelic_application_window_end_timestamp_seconds',
      'newrelic_application_hosts',
      'newrelic_application_instances',
      'newrelic_application_reporting',
      'newrelic_application_last_reported_timestamp_seconds',
      'newrelic_application_health_status',
      'newrelic_application_info',
      'newrelic_application_summary_requests_per_minute',
      'newrelic_application_summary_response_time_seconds',
      'newrelic_application_summary_error_ratio',
      'newrelic_application_summary_apdex_score',
      'newrelic_application_summary_apdex_target_seconds',
      'newrelic_application_poll_success',
      'newrelic_application_last_success_timestamp_seconds',
      'newrelic_application_poll_failure_info',
    ]);
    expect(upFamily.name).toBe('newrelic_up');
  });

  it('says of all vendor data that it is polled and cached', () => {
    const silent = appFamilies.filter(
      ({ help }) => !help.endsWith(' Polled in the background and cached.'),
    );

    expect(silent.map(({ name }) => name)).toEqual([
      'newrelic_application_poll_success',
      'newrelic_application_last_success_timestamp_seconds',
      'newrelic_application_poll_failure_info',
    ]);
  });

  it('publishes only the existence of an application without facts', () => {
    const speaking = appFamilies.filter(
      ({ samplesOf: samples }) => [...samples(aSnapshot(), String)].length > 0,
    );

    expect(speaking.map(({ name }) => name)).toEqual(['newrelic_application_info']);
  });

  it.each([
    {
      what: 'throughput by transaction type',
      suffix: 'requests_per_minute',
      snapshot: {
        reading: aReading({
          application: [1.5, 3],
        }),
      },
      samples: ['transaction_type="web" 1.5', 'transaction_type="other" 3'],
    },
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
      what: 'hosts by name',
      suffix: 'host_requests_per_minute',
      snapshot: {
        reading: aReading({ hosts: new Map([['7', [2]]]) }),
        hostNames: new Map([['7', 'web-1']]),
      },
      samples: ['host_id="7",host_name="web-1",transaction_type="web" 2'],
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
      what: 'the end of the window in seconds',
      suffix: 'window_end_timestamp_seconds',
      snapshot: { reading: aReading({ windowEndMs: 1_756_720_800_000 }) },
      samples: ['1756720800'],
    },
    {
      what: 'no window of a reading without data',
      suffix: 'window_end_timestamp_seconds',
      snapshot: { reading: aReading({ windowEndMs: undefined }) },
      samples: [],
    },
    {
      what: 'the length of the list of hosts',
      suffix: 'hosts',
      snapshot: { application: anApplication({ hostIds: ['7', '8'] }) },
      samples: ['2'],
    },
    {
      what: 'an empty list of hosts as 0',
      suffix: 'hosts',
      snapshot: { application: anApplication({ hostIds: [] }) },
      samples: ['0'],
    },
    {
      what: 'the length of the list of instances',
      suffix: 'instances',
      snapshot: { application: anApplication({ instances: 3 }) },
      samples: ['3'],
    },
    {
      what: 'an application that does not report',
      suffix: 'reporting',
      snapshot: { application: anApplication({ reporting: false }) },
      samples: ['0'],
    },
    {
      what: 'the last report in seconds',
      suffix: 'last_reported_timestamp_seconds',
      snapshot: { application: anApplication({ lastReportedAtMs: 1_756_720_800_500 }) },
      samples: ['1756720800.5'],
    },
    {
      what: 'a known health status',
      suffix: 'health_status',
      snapshot: { application: anApplication({ healthStatus: 'red' }) },
      samples: [
        'status="green" 0',
        'status="orange" 0',
        'status="red" 1',
        'status="gray" 0',
        'status="unknown" 0',
      ],
    },
    {
      what: 'a new health status besides the known ones',
      suffix: 'health_status',
      snapshot: { application: anApplication({ healthStatus: 'violet' }) },
      samples: [
        'status="green" 0',
        'status="orange" 0',
        'status="red" 0',
        'status="gray" 0',
        'status="unknown" 0',
        'status="violet" 1',
      ],
    },
    {
      what: 'no health if the vendor left it empty',
      suffix: 'health_status',
      snapshot: { application: anApplication({ healthStatus: '' }) },
      samples: [],
    },
    {
      what: 'the language',
      suffix: 'info',
      snapshot: { application: anApplication({ language: 'java' }) },
      samples: ['language="java" 1'],
    },
    {
      what: 'an unknown language as an empty label',
      suffix: 'info',
      snapshot: {},
      samples: ['language="" 1'],
    },
    {
      what: 'summary requests',
      suffix: 'summary_requests_per_minute',
      snapshot: {
        application: anApplication({ summary: { ...noSummary, requestsPerMinute: 12 } }),
      },
      samples: ['12'],
    },
    {
      what: 'summary response time',
      suffix: 'summary_response_time_seconds',
      snapshot: {
        application: anApplication({ summary: { ...noSummary, responseTimeSeconds: 0.25 } }),
      },
      samples: ['0.25'],
    },
    {
      what: 'summary errors',
      suffix: 'summary_error_ratio',
      snapshot: { application: anApplication({ summary: { ...noSummary, errorRatio: 0.01 } }) },
      samples: ['0.01'],
    },
    {
      what: 'summary Apdex score',
      suffix: 'summary_apdex_score',
      snapshot: { application: anApplication({ summary: { ...noSummary, apdexScore: 0.9 } }) },
      samples: ['0.9'],
    },
    {
      what: 'summary Apdex target',
      suffix: 'summary_apdex_target_seconds',
      snapshot: {
        application: anApplication({ summary: { ...noSummary, apdexTargetSeconds: 0.5 } }),
      },
      samples: ['0.5'],
    },
    {
      what: 'nothing of an empty summary',
      suffix: 'summary_apdex_target_seconds',
      snapshot: { application: anApplication({ summary: noSummary }) },
      samples: [],
    },
    {
      what: 'a poll that failed',
      suffix: 'poll_success',
      snapshot: { pollSucceeded: false },
      samples: ['0'],
    },
    {
      what: 'a poll that succeeded',
      suffix: 'poll_success',
      snapshot: { pollSucceeded: true },
      samples: ['1'],
    },
    {
      what: 'why a poll failed',
      suffix: 'poll_failure_info',
      snapshot: { pollSucceeded: false, failureReason: 'timeout' },
      samples: ['reason="timeout" 1'],
    },
    {
      what: 'no reason of a poll that succeeded',
      suffix: 'poll_failure_info',
      snapshot: { pollSucceeded: true },
      samples: [],
    },
    {
      what: 'the last success in seconds',
      suffix: 'last_success_timestamp_seconds',
      snapshot: { lastSuccessMs: 1_756_720_830_000 },
      samples: ['1756720830'],
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
