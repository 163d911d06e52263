import { describe, expect, it } from 'vitest';
import { tagsOf, textOf } from '../../support/html-parts.ts';
import {
  aFullReading,
  anApplicationStatus,
  aReading,
  inState,
} from '../../support/status-source.ts';
import { applicationPageOf, rowsOn } from './pages.ts';

const full = anApplicationStatus({ reading: aFullReading() });

describe('the values of an application', () => {
  it.each([
    'newrelic_application_response_time_seconds\ntransaction_type=web\n123 ms\nHttpDispatcher, average_response_time',
    'newrelic_application_response_time_seconds\ntransaction_type=other\n2.5 s',
    'newrelic_application_apdex_score\n0.94\nApdex, score',
    'newrelic_application_memory_used_bytes\n500 MiB',
    'newrelic_application_cpu_usage_ratio\n37.5 %',
    'newrelic_application_external_response_time_seconds\n\u2013',
    'queue_depth\nqueue=mail\n12,500\nCustom/Queue/Depth, average_value',
    'longest_ms\n1,500',
  ])('are all in a table: %s', (text) => {
    expect(textOf(applicationPageOf(full))).toContain(text);
  });

  it.each([
    { what: 'there are only requests per minute', application: anApplicationStatus() },
    { what: 'nothing is published', application: anApplicationStatus(inState('dropped')) },
    {
      what: 'only hosts are polled',
      application: anApplicationStatus({ reading: { ...aFullReading(), application: [] } }),
    },
  ])('have no table if $what', ({ application }) => {
    expect(textOf(applicationPageOf(application))).not.toContain('In New Relic');
  });

  it('leave out the requests per minute that are not asked for', () => {
    const { series, application } = aFullReading();
    const reading = aReading({ series: series.slice(6, 7), application: application.slice(6, 7) });
    const text = textOf(applicationPageOf(anApplicationStatus({ reading, hostIds: [] })));

    expect(text).toContain('newrelic_application_apdex_score');
    expect(text).not.toContain('Web, requests per minute');
  });
});

describe('the hosts of an application with more values', () => {
  it('have columns for response times and errors', () => {
    const text = textOf(applicationPageOf(full));

    expect(text).toContain('Web\nOther\nWeb time\nOther time\nErrors\nup\n');
    expect(text).toContain('checkout-7d9f-1\n11\n1,204\n85.5\n123 ms\n2.5 s\n4');
    expect(text).toContain(
      'Throughput in requests per minute, average response time, errors per minute',
    );
  });

  it('can be sorted by them, those without a value last', () => {
    const { series, application } = aFullReading();
    const withTime = (seconds: number | undefined): readonly (number | undefined)[] =>
      application.map((value, index) => (index === 2 ? seconds : value));
    const hosts = new Map([
      ['11', withTime(undefined)],
      ['12', withTime(0.2)],
      ['13', withTime(0.9)],
    ]);
    const hostIds = [...hosts.keys()];
    const page = applicationPageOf(
      anApplicationStatus({ reading: aReading({ series, hosts }), hostIds }),
      'sort=-web_time',
    );

    expect(rowsOn(page)).toEqual(['13', '12', '11']);
  });

  it('lead to all values of one of them, and back, keeping order and search', () => {
    const page = applicationPageOf(full, 'sort=-web&q=checkout');
    const links = tagsOf(page).map(({ attributes }) => attributes['href'] ?? '');
    const link = links.find((href) => href.endsWith('#host')) ?? '';
    const query = new URL(link, 'http://exporter/').searchParams;
    const detail = applicationPageOf(full, String(query));
    const close = tagsOf(detail)
      .map(({ attributes }) => attributes['href'] ?? '')
      .find(
        (href) =>
          href.includes('applications?') && !href.includes('host=') && !href.includes('state='),
      );

    expect([...query]).toEqual(
      expect.arrayContaining([
        ['host', '11'],
        ['sort', '-web'],
        ['q', 'checkout'],
      ]),
    );
    expect(textOf(detail)).toContain('Values of the host checkout-7d9f-1');
    expect(textOf(detail)).toContain('host_only_hosts\n7');
    expect(textOf(detail)).toContain('newrelic_application_host_cpu_usage_ratio\n37.5 %');
    expect(close).toContain('q=checkout');
  });

  it('have no such link if their rows show all there is, and nothing is shown of a host that is not there', () => {
    expect(applicationPageOf(anApplicationStatus())).not.toContain('#host');
    expect(textOf(applicationPageOf(full, 'host=999'))).not.toContain('Values of the host');
  });
});
