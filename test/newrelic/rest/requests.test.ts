import { describe, expect, it } from 'vitest';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { MetricQuery } from '../../../src/newrelic/rest/metric-payload.ts';
import {
  applicationsRequest,
  hostsRequest,
  metricsRequest,
} from '../../../src/newrelic/rest/requests.ts';

const window = { fromMs: Date.UTC(2026, 8, 1, 9, 52), toMs: Date.UTC(2026, 8, 1, 9, 57) };

function aQuery(changes: Partial<MetricQuery> = {}): MetricQuery {
  return { window, series: seriesOf(['throughput'], ['web', 'other']), raw: false, ...changes };
}

describe('the list requests', () => {
  it.each([
    { what: 'the whole list', ids: undefined, page: 1, query: '' },
    { what: 'a later page', ids: undefined, page: 7, query: '?page=7' },
    { what: 'ids', ids: ['1', '22'], page: 1, query: '?filter%5Bids%5D=1%2C22' },
    { what: 'ids, later page', ids: ['1'], page: 2, query: '?filter%5Bids%5D=1&page=2' },
  ])('ask for $what', ({ ids, page, query }) => {
    expect(applicationsRequest(ids, page)).toEqual({
      operation: 'list_applications',
      target: `/v2/applications.json${query}`,
      answerSize: 'large',
    });
  });
});

describe('the throughput requests', () => {
  it('ask for both transaction types of a window in one call', () => {
    expect(metricsRequest('12', undefined, aQuery())).toEqual({
      operation: 'application_metrics',
      applicationId: '12',
      target:
        '/v2/applications/12/metrics/data.json' +
        '?names%5B%5D=HttpDispatcher&names%5B%5D=OtherTransaction%2Fall' +
        '&values%5B%5D=requests_per_minute&summarize=true' +
        '&from=2026-09-01T09%3A52%3A00Z&to=2026-09-01T09%3A57%3A00Z',
    });
  });
});

describe('an id that is not a number', () => {
  it.each([{ id: '1/../2' }, { id: '' }, { id: '1?' }, { id: '-1' }, { id: '１' }, { id: '1\n' }])(
    'never gets into a path: $id',
    ({ id }) => {
      const requests = [
        () => applicationsRequest(['1', id], 1),
        () => hostsRequest(id, 1),
        () => metricsRequest(id, undefined, aQuery()),
        () => metricsRequest('1', id, aQuery()),
      ];

      for (const request of requests) {
        expect(request).toThrow(expect.objectContaining({ name: 'ApiError', reason: 'client' }));
      }
    },
  );
});
